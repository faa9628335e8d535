"""A slow, obvious referee of VeloCity, written from the rule text alone (rule ids C1 ... C20).

It shares no code with the fast engine and serves as its test twin. Everything is plain Python: a space is its number
(0 is the finish, one more than the length of the course is the car park), the couriers of a seat are a list of spaces,
a move is a text. A turn is one generator that reads like the rules and stops wherever a player has to decide.

Move texts: ``solo``, ``solo refuel``, ``solo breakaway``, ``pack 27``, ``pack park refuel``; a die and the space it is
ridden from, ``red from 33``, ``energy from 33``, ``sum from park``; ``follow``, ``stay``; ``pay``, ``back``;
``take blue``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence

COLOURS = ("red", "black", "yellow", "white", "green", "gray", "blue")  # C1, by seat
FINISH = 0
FINISH_PLACES = 8  # C4
PRICES = {"": 0, "refuel": 1, "breakaway": 2}  # C6

Decisions = Generator[None, str, None]
"""Stops at every decision, and is sent the text of a legal move."""


class Race:
    """One race: whose decision it is, what he may decide, and what follows from it.

    ``phase`` is ride, die, slipstream, obstacle, take or game_over, ``turn`` the seat to act, ``active`` the seat whose
    turn it is. ``happened`` counts the cases of rules that no move text shows.
    """

    def __init__(
        self,
        players: int,
        length: int,
        supply: Sequence[int],
        obstacles: Sequence[int],
        couriers: int,
        cans: int,
        pack_from_start: bool,
        breakaway_sum_finishes: bool,
        turn_limit: int,
        start_cans: Sequence[int] = (),
        starter: int = 0,
    ) -> None:
        self.players, self.park = players, length + 1
        self.supply_spaces, self.obstacles = list(supply), list(obstacles)
        self.pack_from_start, self.breakaway_sum_finishes = pack_from_start, breakaway_sum_finishes
        self.turn_limit, self.starter = turn_limit, starter
        self.couriers = [[self.park] * couriers for _ in range(players)]
        self.cans = list(start_cans) or [0] * players
        self.supply = cans - sum(self.cans)
        self.finish: list[int] = []
        self.turns = 0
        self.ended_by: str | None = None
        self.happened: Counter[str] = Counter()
        self.phase, self.active = "ride", starter
        self.turn: int | None = starter
        self.ride = ""
        self.thrown: dict[str, int] = {}
        self.decisions = self._race()
        next(self.decisions)

    # ---- what is legal ----

    def legal_moves(self) -> list[str]:
        """List every legal move of the seat to act, sorted."""
        if self.turn is None:
            return []
        if self.phase == "ride":
            return sorted(self._rides())
        if self.phase == "die":
            return sorted(self._choices_of_die())
        if self.phase == "slipstream":
            return ["follow", "stay"]
        if self.phase == "obstacle":
            return ["back", "pay"]
        return sorted(f"take {COLOURS[seat]}" for seat in self._richest_others(self.turn))

    def _rides(self) -> Iterator[str]:
        """Yield the rides that the active player can pay (C6)."""
        kinds = ["solo"] + [f"pack {self._name(space)}" for space in self._packs()]
        for kind in kinds:
            for spending, price in PRICES.items():
                if price <= self.cans[self.active] and (kind == "solo" or spending != "breakaway"):
                    yield f"{kind} {spending}".strip()

    def _packs(self) -> list[int]:
        """List the spaces with an own courier and one of another team; the car park by option (C7)."""
        packs = [space for space in self._own_spaces() if len(self._teams_on(space)) > 1]
        return [space for space in packs if space != self.park or self.pack_from_start]

    def _choices_of_die(self) -> Iterator[str]:
        """Yield every die (or the sum) with every space that it may move an own courier from (C8, C9, C10, C11)."""
        pack = self._pack_of(self.ride)
        for die, value in self._values().items():
            for space in self._own_spaces() if pack is None else [pack]:
                if value < space or self._may_finish(die):
                    yield f"{die} from {self._name(space)}"

    def _values(self) -> dict[str, int]:
        """Return how far each die thrown moves a courier, and the sum of both after a Breakaway (C10, C11)."""
        values = dict(self.thrown)
        if self._spending_of(self.ride) == "breakaway":
            values["sum"] = sum(self.thrown.values())
        return values

    def _may_finish(self, die: str) -> bool:
        """Say whether a courier of the active player may cross the finish line by this die (C9)."""
        return die == COLOURS[self.active] or (die == "sum" and self.breakaway_sum_finishes)

    def dice_thrown_by(self, ride: str) -> list[str]:
        """List the dice that a ride throws: teams by seat, then the energy die (C10, C11)."""
        pack = self._pack_of(ride)
        seats = [self.active] if pack is None else self._teams_on(pack)
        return [COLOURS[seat] for seat in seats] + ["energy"] * (self._spending_of(ride) != "")

    # ---- a move ----

    def move(self, text: str, dice: Mapping[str, int] | None = None) -> None:
        """Make a legal move of the seat to act; ValueError, and nothing changed, if it is not legal.

        ``dice`` gives the faces of the dice that a ride throws; no other move has any.
        """
        if text not in self.legal_moves():
            raise ValueError(f"{text!r} is not legal in phase {self.phase} of seat {self.turn}")
        expected = self.dice_thrown_by(text) if self.phase == "ride" else []
        if sorted(dice or {}) != sorted(expected):
            raise ValueError(f"{text!r} throws the dice {expected}, not {sorted(dice or {})}")
        if self.phase == "ride":
            self.thrown = dict(dice or {})
        self.decisions.send(text)

    def _race(self) -> Decisions:
        """Take turns clockwise until the game ends (C18, C20)."""
        while self.ended_by is None:
            yield from self._turn()
            self.turns += 1
            if self.ended_by is None and self.turns == self.turn_limit:
                self.ended_by = "turn limit"
            if self.ended_by is None:
                self.active = self._clockwise_from(self.active)[1]
        self.phase, self.turn = "game_over", None
        yield

    def _ask(self, phase: str, seat: int) -> Generator[None, str, str]:
        """Wait for the decision of a seat."""
        self.phase, self.turn = phase, seat
        return (yield)

    def _turn(self) -> Decisions:
        """Ride, choose a die, move, then slipstream and what the space of arrival asks for (C6-C16)."""
        self.ride = yield from self._ask("ride", self.active)
        self._spend(self.active, PRICES[self._spending_of(self.ride)])
        choice = yield from self._ask("die", self.active)
        die, _, name = choice.split()
        start = self._space(name)
        target = start - self._values()[die]
        if target <= FINISH:
            self._cross(start)
            return
        arrived = self._move_by_die(die, start, target)
        if start != self.park and self._spending_of(self.ride) != "breakaway":
            yield from self._slipstream(start, target, arrived)
        if target in self.supply_spaces:
            yield from self._receive_can(self.active)  # C13: one can, whoever came along
        if target in self.obstacles:
            yield from self._obstacle(target, arrived)

    def _cross(self, start: int) -> None:
        """Put a courier of the active player on the next finish place; perhaps the game ends (C8, C17, C18)."""
        self._relocate(self.active, start, FINISH)
        self.finish.append(self.active)
        if self.finish.count(self.active) == 3:
            self.ended_by = "third courier"
        elif len(self.finish) == FINISH_PLACES:
            self.ended_by = "eighth place"

    def _move_by_die(self, die: str, start: int, target: int) -> list[int]:
        """Move an own courier, and one of the team of a foreign die; return whose couriers moved (C10, C11)."""
        moved = [self.active]
        if die in COLOURS and die != COLOURS[self.active]:
            moved.append(COLOURS.index(die))
        for seat in moved:
            self._relocate(seat, start, target)
        return moved

    def _slipstream(self, start: int, target: int, arrived: list[int]) -> Decisions:
        """Let every other courier on the start space follow for one can each, the active player's first (C12)."""
        for seat in self._clockwise_from(self.active):
            while start in self.couriers[seat] and self.cans[seat] > 0:
                answer = yield from self._ask("slipstream", seat)
                if answer == "stay":
                    break
                self._spend(seat, 1)
                self._relocate(seat, start, target)
                arrived.append(seat)

    def _obstacle(self, obstacle: int, arrived: list[int]) -> Decisions:
        """Let each owner pay or move back for each of his couriers that arrived, the active player first (C15)."""
        for seat in self._clockwise_from(self.active):
            for _ in range(arrived.count(seat)):
                answer = "back"
                if self.cans[seat] > 0:
                    answer = yield from self._ask("obstacle", seat)
                else:
                    self.happened["moved back unasked"] += 1
                if answer == "pay":
                    self._spend(seat, 1)
                else:
                    yield from self._move_back(seat, obstacle)

    def _move_back(self, seat: int, obstacle: int) -> Decisions:
        """Move to the next free obstacle towards the start for one can, or to the car park for two (C15, C16)."""
        free = [space for space in self.obstacles if space > obstacle and not self._teams_on(space)]
        target = min(free, default=self.park)
        self._relocate(seat, obstacle, target)
        yield from self._receive_can(seat)
        if target == self.park:
            self.happened["moved back to the park"] += 1
            yield from self._receive_can(seat)

    # ---- cans ----

    def _spend(self, seat: int, cans: int) -> None:
        """Pay cans into the general supply (C2)."""
        self.cans[seat] -= cans
        self.supply += cans

    def _receive_can(self, seat: int) -> Decisions:
        """Give a can that is due: from the supply, or else from the richest other player, if he has more (C14)."""
        if self.supply > 0:
            self.supply -= 1
            self.cans[seat] += 1
            return
        richest = self._richest_others(seat)
        giver = richest[0]
        if self.cans[seat] >= self.cans[giver]:
            self.happened["no can to take"] += 1
            return
        if len(richest) > 1:
            answer = yield from self._ask("take", seat)
            giver = COLOURS.index(answer.removeprefix("take "))
        else:
            self.happened["can taken unasked"] += 1
        self.cans[giver] -= 1
        self.cans[seat] += 1

    def _richest_others(self, seat: int) -> list[int]:
        """List those among the other players who have the most cans (C14)."""
        others = [other for other in range(self.players) if other != seat]
        most = max(self.cans[other] for other in others)
        return [other for other in others if self.cans[other] == most]

    # ---- the end ----

    def places(self) -> list[int]:
        """Return the place of each seat, 1 being the winner (C18, C19).

        Beyond the rules, so that places are unique: who has no courier in the finish ranks by fewer spaces left in
        all, then by the later seat, counted from the starter.
        """
        ranking = sorted(range(self.players), key=self._rank)
        return [ranking.index(seat) + 1 for seat in range(self.players)]

    def _rank(self, seat: int) -> tuple[int, int, int, int]:
        """Return what seats are ranked by, the least being the best; nobody else has three if somebody has."""
        last_place = max((place for place, owner in enumerate(self.finish, 1) if owner == seat), default=0)
        order = self._clockwise_from(self.starter).index(seat)
        return -self.finish.count(seat), -last_place, sum(self.couriers[seat]), -order

    # ---- spaces, seats and texts ----

    def _relocate(self, seat: int, start: int, target: int) -> None:
        """Move one courier of a seat from a space to another; any number may stand on one (C5)."""
        self.couriers[seat].remove(start)
        self.couriers[seat] = sorted([*self.couriers[seat], target])

    def _own_spaces(self) -> list[int]:
        """List the spaces with couriers of the active player that have not finished."""
        return sorted(set(self.couriers[self.active]) - {FINISH})

    def _teams_on(self, space: int) -> list[int]:
        """List the seats with a courier on a space."""
        return [seat for seat in range(self.players) if space in self.couriers[seat]]

    def _clockwise_from(self, first: int) -> list[int]:
        """List all seats clockwise, beginning with one of them (C12, C15, C20)."""
        return [(first + step) % self.players for step in range(self.players)]

    def _name(self, space: int) -> str:
        return "park" if space == self.park else str(space)

    def _space(self, name: str) -> int:
        return self.park if name == "park" else int(name)

    def _pack_of(self, ride: str) -> int | None:
        """Return the space of a pack ride, None of a solo ride."""
        words = ride.split()
        return self._space(words[1]) if words[0] == "pack" else None

    def _spending_of(self, ride: str) -> str:
        """Return what is spent on a ride: refuel, breakaway or nothing, an empty text."""
        last = ride.split()[-1]
        return last if last in PRICES else ""
