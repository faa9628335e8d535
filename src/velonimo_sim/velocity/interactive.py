"""A race to play move by move, in a notebook or from a script."""

from typing import Any

from velonimo_sim.errors import IllegalMoveError
from velonimo_sim.rng import CHANCE, new_stream
from velonimo_sim.velocity.describe import describe_view, seat_or_none, seats_in_finish, spaces_of, tell_view
from velonimo_sim.velocity.legal import all_legal_moves
from velonimo_sim.velocity.moves import move_text, parse_move
from velonimo_sim.velocity.narrate import ToldRecord
from velonimo_sim.velocity.record import Recorder, describe_result
from velonimo_sim.velocity.rules import RuleSet, checked_rules
from velonimo_sim.velocity.state import State, clone, new_state, view_of
from velonimo_sim.velocity.step import apply
from velonimo_sim.velocity.view import Phase, View


class ToldView(dict[str, Any]):
    """A view as ``describe_view`` returns it, which prints in some lines of text."""

    def __repr__(self) -> str:
        return tell_view(self)


def new_game(players: int = 4, seed: int = 0, rules: RuleSet | str | None = None, starter: int = 0) -> "Game":
    """Return a race before its first turn.

    Parameters
    ----------
    players : int
        Number of players, 3-7.
    seed : int
        Root seed: the same seed throws the same dice, those of game 0 of a tournament with that seed.
    rules : RuleSet or str, optional
        Options, or the name of a preset; the official rules by default.
    starter : int
        Seat that has the first turn (C20).

    Returns
    -------
    Game
        The race.

    Raises
    ------
    UsageError
        If players, seed, rules or starter are impossible.

    Examples
    --------
    >>> game = new_game(players=4, seed=7)
    >>> game.phase, game.turn
    ('ride', 0)
    """
    chosen = RuleSet.preset(rules) if isinstance(rules, str) else checked_rules(rules)
    return Game(players, seed, chosen, starter)


class Game:
    """One race of VeloCity, played by the texts of moves; the dice are thrown as rides are chosen.

    See ``new_game`` for the parameters. ``state`` is the engine's record, to be read and not written.
    """

    def __init__(self, players: int, seed: int, rules: RuleSet, starter: int) -> None:
        self.rules = checked_rules(rules)
        self.state: State = new_state(players, rules, starter)
        self._dice = new_stream(seed, 0, CHANCE)
        self.seed = int(seed)
        self._recorder = Recorder(f"seed-{seed}", self.players, rules, starter)

    @property
    def players(self) -> int:
        """Number of players."""
        return int(self.state["view"]["players"])

    @property
    def turn(self) -> int | None:
        """Seat to act; None when the race is over."""
        return seat_or_none(self.state["view"]["turn"])

    @property
    def phase(self) -> str:
        """What has to be decided: ride, die, slipstream, obstacle, take; or game_over."""
        return Phase(int(self.state["view"]["phase"])).name.lower()

    @property
    def couriers(self) -> list[list[int]]:
        """By seat the spaces of the couriers that race, the one furthest back first; the car park is length + 1."""
        return [spaces_of(self.state["view"], seat) for seat in range(self.players)]

    @property
    def cans(self) -> list[int]:
        """Cans by seat."""
        cans: list[int] = self.state["view"]["cans"][: self.players].tolist()
        return cans

    @property
    def finish(self) -> list[int]:
        """Seats of the couriers in the finish, by finish place."""
        return seats_in_finish(self.state["view"])

    @property
    def winner(self) -> int | None:
        """Seat that has won; None while the race goes on."""
        winner: int | None = describe_result(self.state)["winner"]
        return winner

    def legal_moves(self) -> list[str]:
        """Return the texts of all legal moves of the seat to act; empty when the race is over."""
        return [move_text(move) for move in all_legal_moves(self.state["view"])]

    def play(self, move: str) -> None:
        """Make a move of the seat to act.

        Raises
        ------
        IllegalMoveError
            If the text is no move, or the rules refuse it (the rule's id is in the message and in ``rule``); the race
            is then as it was.
        """
        if self.turn is None:
            raise IllegalMoveError(f"{move!r}: the race is over", "C18")
        word = parse_move(move)
        before = clone(self.state)
        apply(self.state, word, self._dice)
        self._recorder.add(before, word, self.state)

    def view(self, seat: int) -> ToldView:
        """Return what a seat may see, which is everything; ``view_of(game.state, seat)`` is the record for bots.

        The dict prints as text; ``dict(view)`` prints its fields.

        Raises
        ------
        UsageError
            If there is no such seat.
        """
        return self._told(view_of(self.state, seat))

    def record(self) -> ToldRecord:
        """Return the race so far as a record, which prints as a story.

        ``game_records.write_records`` makes a file of finished ones.
        """
        return ToldRecord(self._recorder.record(self.state))

    def _told(self, view: View) -> ToldView:
        return ToldView(describe_view(view, self.rules.in_force(self.players)))

    def __repr__(self) -> str:
        """Show the race as the seat to act sees it."""
        return repr(self._told(self.state["view"]))
