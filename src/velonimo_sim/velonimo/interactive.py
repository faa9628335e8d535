"""A game to play move by move, in a notebook or from a script."""

from velonimo_sim.errors import IllegalMoveError, UsageError, is_integer_in
from velonimo_sim.rng import CHANCE, new_stream
from velonimo_sim.velonimo.describe import describe_view
from velonimo_sim.velonimo.draw import DrawnRecord, DrawnView
from velonimo_sim.velonimo.legal import all_legal_moves
from velonimo_sim.velonimo.moves import move_text, parse_move
from velonimo_sim.velonimo.record import Recorder, describe_result
from velonimo_sim.velonimo.rules import RuleSet, checked_rules
from velonimo_sim.velonimo.state import State, clone, new_state, view_of
from velonimo_sim.velonimo.step import apply, deal
from velonimo_sim.velonimo.view import NOBODY, Phase


def new_game(players: int = 4, seed: int = 0, rules: RuleSet | str | None = None, starter: int = 0) -> "Game":
    """Return a game of which the first col has been dealt.

    Parameters
    ----------
    players : int
        Number of players, 2-5.
    seed : int
        Root seed: the same seed deals the same cols, those of game 0 of a tournament with that seed.
    rules : RuleSet or str, optional
        Options, or the name of a preset; the official rules by default.
    starter : int
        Seat that starts col 1.

    Returns
    -------
    Game
        The game.

    Raises
    ------
    UsageError
        If players, seed, rules or starter are impossible.

    Examples
    --------
    >>> game = new_game(players=4, seed=7)
    >>> game.phase, game.turn
    ('lead', 0)
    """
    chosen = RuleSet.preset(rules) if isinstance(rules, str) else checked_rules(rules)
    return Game(players, seed, chosen, starter)


class Game:
    """One game of Velonimo, played by the texts of moves; cols are dealt as they come.

    See ``new_game`` for the parameters. ``state`` is the engine's record, to be read and not written.
    """

    def __init__(self, players: int, seed: int, rules: RuleSet, starter: int) -> None:
        if not is_integer_in(seed, 0, 2**63 - 1):
            raise UsageError(f"seed {seed}: allowed is an integer 0 to 2**63 - 1")
        self.rules = checked_rules(rules)
        self.seed = int(seed)
        self.state: State = new_state(players, rules, starter)
        self._chance = new_stream(self.seed, 0, CHANCE)
        self._recorder = Recorder(f"seed-{seed}", self.players, rules)
        self._deal()

    def _deal(self) -> None:
        deal(self.state, self.seed)
        self._recorder.start_col(self.state)

    @property
    def players(self) -> int:
        """Number of players."""
        return int(self.state["view"]["players"])

    @property
    def col(self) -> int:
        """Number of the col being played, 1 = first."""
        return int(self.state["view"]["col"])

    @property
    def turn(self) -> int | None:
        """Seat to act; None when the game is over."""
        turn = int(self.state["view"]["turn"])
        return None if turn == NOBODY else turn

    @property
    def phase(self) -> str:
        """What has to be decided: lead, follow, swap, give, next_leader, reward; or game_over."""
        return Phase(int(self.state["view"]["phase"])).name.lower()

    @property
    def totals(self) -> list[int]:
        """Points of the finished cols, by seat."""
        totals: list[int] = self.state["view"]["totals"][: self.players].tolist()
        return totals

    @property
    def winner(self) -> int | None:
        """Seat that has won; None while the game is played."""
        winner: int | None = describe_result(self.state)["winner"]
        return winner

    def legal_moves(self) -> list[str]:
        """Return the texts of all legal moves of the seat to act; empty when the game is over."""
        return [move_text(move) for move in all_legal_moves(self.state["view"])]

    def play(self, move: str) -> None:
        """Make a move of the seat to act; when it ends a col, the next one is dealt.

        Raises
        ------
        IllegalMoveError
            If the text is no move, or the rules refuse it (the rule's id is in the message and in ``rule``); the game
            is then as it was.
        """
        if self.turn is None:
            raise IllegalMoveError(f"{move!r}: the game is over", "V19")
        word = parse_move(move)
        before = clone(self.state)
        apply(self.state, word, self._chance)
        self._recorder.add(before, word, self.state)
        if self.state["view"]["phase"] == Phase.COL_OVER:
            self._deal()

    def view(self, seat: int) -> DrawnView:
        """Return what a seat may see (V22, V28), cards by name; ``view_of(game.state, seat)`` is the record for bots.

        The dict draws itself in a notebook and prints as a table; ``dict(view)`` prints its fields.

        Raises
        ------
        UsageError
            If there is no such seat.
        """
        return DrawnView(describe_view(view_of(self.state, seat), self.rules.in_force(self.players)))

    def record(self) -> DrawnRecord:
        """Return the game so far as a record; ``game_records.write_records`` makes a file of finished ones.

        The dict draws itself in a notebook and prints as a story.
        """
        return DrawnRecord(self._recorder.record(self.state))

    def _seen(self) -> DrawnView:
        """Return the table as the seat to act sees it."""
        return DrawnView(describe_view(self.state["view"], self.rules.in_force(self.players)))

    def __repr__(self) -> str:
        """Show the table as the seat to act sees it."""
        return repr(self._seen())

    def _repr_html_(self) -> str:
        """Draw the table as the seat to act sees it, for a notebook."""
        return self._seen()._repr_html_()
