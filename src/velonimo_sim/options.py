"""What a user asks of a tournament: the command line, over a configuration file, over the run that is gone on with."""

import argparse
import json
import tomllib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from velonimo_sim.commands import OneLineParser, integer_in, number_between
from velonimo_sim.definition import Tournament, Until
from velonimo_sim.errors import UsageError, in_one_line, unknown_name
from velonimo_sim.faults import OnFault
from velonimo_sim.game import DEFAULT_GAME, GAMES, BotLike, GameSpec, RulesLike, game_of
from velonimo_sim.schedule import Seating, TableKind, make_schedule

COMMAND = "velonimo_sim.tournament"
DEFAULT_GAMES = 2_000
MAX_GAMES = 10**12
MAX_WORKERS = 256
MAX_TIME_LIMIT = 3_600_000

DEFAULTS: dict[str, Any] = {
    "game": DEFAULT_GAME,
    "bots": [],
    "table": str(TableKind.SINGLE),
    "seating": str(Seating.ROTATIONS),
    "games": str(DEFAULT_GAMES),
    "seed": "0",
    "rules": "official",
    "rule": [],
    "compare_rules": [],
    "on_fault": str(OnFault.RAISE),
    "alpha": "0.05",
}
"""What holds where nothing is said; all other options are then off, or found out."""

_OF_THE_RUN = (
    "game",
    "players",
    "bots",
    "table",
    "seating",
    "games",
    "seed",
    "rules",
    "rule",
    "compare_rules",
    "on_fault",
    "time_limit",
    "until",
    "alpha",
)
"""The options that say what a run is; ``run.json`` holds them."""
FROM_PYTHON = tuple(name for name in _OF_THE_RUN if name != "compare_rules")
"""The options that ``run_tournament`` takes: those of one run."""
_NOT_IN_FILES = ("help", "config", "resume", "overwrite", "dry_run")
"""The options that are for the command line alone."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; what is not given is None."""
    top = OneLineParser(
        prog=f"python -m {COMMAND}",
        usage="%(prog)s [options]",
        description="Play a tournament and leave its games as Parquet.",
        epilog="\n".join(
            (
                "examples:",
                "  four bots, a short tournament:",
                f"    python -m {COMMAND}",
                "  every bot meets every other, a night long; gone on with after a crash by --resume:",
                f"    python -m {COMMAND} --table round-robin --bots advised greedy exact champion ismcts \\",
                "      --games 200000 --out night",
                "  is one bot better than another? Stop as soon as that is known:",
                f"    python -m {COMMAND} --bots champion rollout:n=200 advised greedy \\",
                '      --until "champion>rollout:n=200"',
                "",
                *chain.from_iterable(map(_bots_and_rules, GAMES.values())),
            )
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_who_plays(top.add_argument_group("who plays"))
    _add_how_long(top.add_argument_group("how much is played"))
    _add_rules(top.add_argument_group("by which rules"))
    _add_where(top.add_argument_group("where it is played and written"))
    _add_what_is_shown(top.add_argument_group("what is shown"))
    return top


def _bots_and_rules(game: GameSpec) -> list[str]:
    """Return what may be asked of a game, for the help."""
    return [
        f"bots of {game.name}: {', '.join(game.bots)}; more about them: python -m velonimo_sim.bots",
        f"rule options of {game.name}: {', '.join(game.rule_set.official().to_dict())}",
    ]


def _add_who_plays(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--game", metavar="NAME", help=f"{' or '.join(GAMES)} (default: {DEFAULT_GAME})")
    players = ", ".join(f"{game.players[0]}-{game.players[-1]} in {game.name}" for game in GAMES.values())
    usual = " or ".join(dict.fromkeys(str(game.default_players) for game in GAMES.values()))
    group.add_argument("--players", metavar="N", help=f"players at a table, {players} (default: one a bot, or {usual})")
    group.add_argument("--bots", nargs="+", metavar="BOT", help="one a seat; for a round-robin those that meet")
    group.add_argument(
        "--table",
        choices=[str(kind) for kind in TableKind],
        help=f"one table, or one for each choice of bots (default: {DEFAULTS['table']})",
    )
    group.add_argument(
        "--seating",
        choices=[str(seating) for seating in Seating],
        help=f"by which seatings a table plays each deal (default: {DEFAULTS['seating']})",
    )
    group.add_argument(
        "--on-fault",
        choices=[str(way) for way in OnFault],
        help=f"a bot at fault ends last, moves at random this once, or ends the run (default: {DEFAULTS['on_fault']})",
    )
    group.add_argument("--time-limit", metavar="MS", help="milliseconds that a decision may take (default: any)")


def _add_how_long(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--games", metavar="N", help=f"number of games, made whole deals (default: {DEFAULT_GAMES:,})")
    group.add_argument("--seed", metavar="N", help=f"root seed of all chance (default: {DEFAULTS['seed']})")
    group.add_argument("--until", metavar="A>B", help="stop as soon as it is known which of two bots wins more")
    group.add_argument(
        "--alpha", metavar="P", help=f"chance that --until may err with equal bots (default: {DEFAULTS['alpha']})"
    )


def _add_rules(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--rules",
        metavar="PRESET",
        help=f"official, or another preset of the game, such as bga (default: {DEFAULTS['rules']})",
    )
    group.add_argument("--rule", action="append", metavar="OPTION=VALUE", help="change one option; may be repeated")
    group.add_argument(
        "--compare-rules",
        nargs="+",
        metavar="OPTION=VALUE",
        help="play the same deals with these options changed, too, and compare; a preset may come first",
    )


def _add_where(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--config", metavar="FILE", type=Path, help="TOML file with the names of these options")
    group.add_argument("--out", metavar="DIR", help="folder for the files (default: GAME-run, or the next free)")
    group.add_argument("--resume", action="store_true", help="go on with the run in the folder")
    group.add_argument("--overwrite", action="store_true", help="replace the run in the folder")
    group.add_argument(
        "--workers", metavar="N", help="threads that play, or processes for plain Python (default: one a core)"
    )
    group.add_argument("--scheduler", metavar="ADDRESS", help="let a Dask cluster play: address or scheduler file")


def _add_what_is_shown(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--dry-run", action="store_true", help="print the schedule, its size and the expected time")
    group.add_argument("--quiet", action="store_true", default=None, help="no progress")
    group.add_argument("--json", action="store_true", default=None, help="print the result as JSON")


def read_options(given: argparse.Namespace, run: Mapping[str, Any]) -> argparse.Namespace:
    """Return the options in force: those of the command line over those of its file over those of a run.

    Parameters
    ----------
    given : argparse.Namespace
        The command line.
    run : mapping
        The options in the manifest of the run that is gone on with; else empty.

    Raises
    ------
    UsageError
        If the configuration file cannot be read, or holds what is no option.
    """
    layers = [DEFAULTS, run, {} if given.config is None else _read_config(given.config)]
    layers.append({name: value for name, value in vars(given).items() if value is not None})
    options: dict[str, Any] = dict.fromkeys(vars(given))
    rule: list[str] = []
    for layer in layers:
        rule = _merged(rule, layer.get("rule", []))
        options |= layer
    return argparse.Namespace(**options | {"rule": rule})


def _merged(settings: Sequence[str], later: Sequence[str]) -> list[str]:
    """Return the settings of rules, those that are given again with their later value."""
    again = {setting.partition("=")[0] for setting in later}
    return [*(setting for setting in settings if setting.partition("=")[0] not in again), *later]


def _read_config(path: Path) -> dict[str, Any]:
    """Return the options in a TOML file, as the command line would give them."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--config {path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--config {path}: is no TOML ({in_one_line(error)})") from None
    return options_from(content, f"--config {path}")


def options_from(content: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return the options that a mapping in the form of a configuration file gives, as the command line would.

    Raises
    ------
    UsageError
        If a key is no option, or a value not what the option takes.
    """
    if not isinstance(content, Mapping):
        raise UsageError(f"{source}: its options are {content!r}: allowed is a table")
    actions = {action.dest: action for action in parser()._actions if action.dest not in _NOT_IN_FILES}
    options = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        if name not in actions:
            raise unknown_name(f"key in {source}", key, [other.replace("_", "-") for other in actions])
        options[name] = _value_of(actions[name], value, f"{source}: {key}")
    return options


def _value_of(action: argparse.Action, value: Any, where: str) -> Any:
    """Return the value of an option as the command line would give it."""
    if action.nargs == 0:
        if not isinstance(value, bool):
            raise UsageError(f"{where} = {value!r}: allowed is true or false")
        return value or None
    if action.dest == "rule":
        if not isinstance(value, dict):
            raise UsageError(f'{where} = {value!r}: allowed is a table, such as {{ OPTION = "VALUE" }}')
        return [f"{name}={_setting_text(part, f'{where}: {name}')}" for name, part in value.items()]
    if action.nargs == "+":
        if not isinstance(value, list) or not value:
            raise UsageError(f"{where} = {value!r}: allowed is a list of texts")
        return [_text_of(part, where) for part in value]
    text = _text_of(value, where)
    if action.choices is not None and text not in action.choices:
        raise UsageError(f"{where} = {value!r}: allowed is {' or '.join(action.choices)}")
    return text


def _setting_text(value: Any, where: str) -> str:
    """Return the value of a rule option as text; a table, such as a course, as JSON."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return json.dumps(value) if isinstance(value, dict) else _text_of(value, where)


def _text_of(value: Any, where: str) -> str:
    if isinstance(value, list):
        return ",".join(_text_of(part, where) for part in value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{where} = {value!r}: allowed is a text or a number")
    return str(value)


def _options_of_the_run(
    options: argparse.Namespace, bots: Sequence[BotLike], players: int, rules: RulesLike
) -> dict[str, Any]:
    """Return what the options say of the run, in the form of a configuration file, for its manifest.

    What a rule option reads from a file stands there itself: the file may be gone when the run is gone on with.
    """
    said = {name: getattr(options, name) for name in _OF_THE_RUN}
    said["bots"], said["players"] = [bot.text for bot in bots], players
    said["rule"] = dict(setting.split("=", 1) for setting in options.rule)
    tables = {name: value for name, value in rules.to_dict().items() if isinstance(value, dict)}
    said["rule"] |= {name: tables[name] for name in said["rule"] if name in tables}
    return {name.replace("_", "-"): value for name, value in said.items() if value not in (None, [], {})}


def read_tournament(options: argparse.Namespace) -> Tournament:
    """Return the tournament that the options in force describe.

    Raises
    ------
    UsageError
        If an option's value is not possible.
    """
    game = game_of(options.game)
    rules = read_rules(game, options.rules, options.rule)
    table, seating = TableKind(options.table), Seating(options.seating)
    bots, players = _read_bots(game, options.bots, options.players, table)
    rules.to_record(players)
    schedule = make_schedule([bot.text for bot in bots], players, seating, table)
    games = integer_in(1, MAX_GAMES, "--games", options.games)
    alpha = number_between(0, 1, "--alpha", options.alpha)
    by_text = {bot.text: bot for bot in bots}
    return Tournament(
        game=game,
        bots=tuple(by_text.values()),
        schedule=schedule,
        table=table,
        seating=seating,
        games=schedule.whole_deals(games),
        seed=integer_in(0, 2**63 - 1, "--seed", options.seed),
        rules=rules,
        on_fault=OnFault(options.on_fault),
        time_limit=None
        if options.time_limit is None
        else integer_in(1, MAX_TIME_LIMIT, "--time-limit", options.time_limit),
        until=None if options.until is None else _read_until(game, options.until, alpha, list(by_text)),
        options=_options_of_the_run(options, bots, players, rules),
    )


def tournament_from(content: Mapping[str, Any]) -> Tournament:
    """Return the tournament that a mapping in the form of a configuration file describes.

    Raises
    ------
    UsageError
        If a key is no option, or a value is not possible.
    """
    options = argparse.Namespace(**dict.fromkeys(_OF_THE_RUN) | DEFAULTS | options_from(content, "options"))
    return read_tournament(options)


def read_rules(game: GameSpec, preset: str, settings: Sequence[str]) -> RulesLike:
    """Return the rules of a preset of a game with some options changed.

    Raises
    ------
    UsageError
        If the preset or an option does not exist, or a value is not possible.
    """
    options: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--rule {setting}: allowed is OPTION=VALUE, such as {game.rule_example}")
        if name in options:
            raise UsageError(f"--rule {setting}: {name} is given twice")
        options[name] = value
    return game.rule_set.preset(preset).with_options(options)


def read_variant(options: argparse.Namespace) -> RulesLike:
    """Return the rules that ``--compare-rules`` names: a preset, or else the rules of the run, with options changed."""
    game, (first, *others) = game_of(options.game), options.compare_rules
    if "=" not in first:
        return read_rules(game, first, others)
    return read_rules(game, options.rules, _merged(options.rule, options.compare_rules))


def _read_bots(
    game: GameSpec, texts: Sequence[str], players: str | None, table: TableKind
) -> tuple[tuple[BotLike, ...], int]:
    """Return the bots named, or else the game's own, and how many sit at a table."""
    bots = tuple(game.parse_bot(text) for text in texts)
    if table is TableKind.ROUND_ROBIN:
        seats = _seats(game, players)
        return bots or tuple(game.parse_bot(text) for text in dict.fromkeys(game.default_bots)), seats
    if players is None and bots:
        try:
            game.check_players(len(bots))
        except UsageError as error:
            raise UsageError(f"--bots names {len(bots)} bots, one a seat; {error}") from None
        return bots, len(bots)
    seats = _seats(game, players)
    if bots and len(bots) != seats:
        raise UsageError(f"--bots names {len(bots)} bots: allowed is one a seat, {seats} with {seats} players")
    return bots or tuple(game.parse_bot(text) for text in game.default_bots[:seats]), seats


def _seats(game: GameSpec, players: str | None) -> int:
    """Return the number of players that is given, or else the game's usual one."""
    seats = game.default_players if players is None else _integer_or_text(players)
    game.check_players(seats)
    return int(seats)


def _integer_or_text(text: str) -> int | str:
    """Return the integer, or the text itself for the check to refuse."""
    try:
        return int(text)
    except ValueError:
        return text


def _read_until(game: GameSpec, text: str, alpha: float, bots: Sequence[str]) -> Until:
    """Return when to stop: two bots of the run, each as ``--bots`` may name it."""
    first, sign, second = text.partition(">")
    if not sign:
        raise UsageError(f"--until {text}: allowed is A>B, such as champion>greedy")
    first, second = (game.parse_bot(name.strip()).text for name in (first, second))
    for name in (first, second):
        if name not in bots:
            raise unknown_name(f"bot in --until {text}", name, bots)
    if first == second:
        raise UsageError(f"--until {text}: names one bot twice")
    return Until(first, second, alpha)
