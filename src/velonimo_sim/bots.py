"""``python -m velonimo_sim.bots``: lists the bots of a game; ``show NAME`` tells one with its parameters."""

import argparse
from collections.abc import Sequence

from velonimo_sim.bot.parameter import Parameter
from velonimo_sim.bot.text import Bot, bot_names, parse_bot
from velonimo_sim.commands import EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, leave_with, say
from velonimo_sim.errors import UsageError

COMMAND = "velonimo_sim.bots"


def describe_bot(bot: Bot) -> list[str]:
    """Return what there is to know of a bot: what it does, and its parameters, one a line."""
    cheats = " (cheats: it sees all)" if bot.sees_all else ""
    return [f"{bot.name}: {bot.policy.help}{cheats}"] + [
        f"  {_setting(parameter)}: {parameter.help}{'; ' if parameter.help else ''}{parameter.allowed}"
        for parameter in bot.policy.parameters
    ]


def _setting(parameter: Parameter) -> str:
    return f"{parameter.name}={parameter.text(parameter.default)}"


def list_bots(game: str) -> None:
    """Print the bots of a game with their parameters' defaults; one that does not load is told on stderr alone."""
    bots = []
    for name in bot_names(game):
        try:
            bots.append(parse_bot(name, game))
        except UsageError as error:
            say(COMMAND, error)
    width = max(len(bot.name) for bot in bots)
    for bot in bots:
        settings = ",".join(map(_setting, bot.policy.parameters))
        marks = (f" ({settings})" if settings else "") + (" (cheats: it sees all)" if bot.sees_all else "")
        print(f"{bot.name:<{width}}  {bot.policy.help}{marks}")


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog=f"python -m {COMMAND}", description="List the bots, or show one with its parameters.")
    parser.add_argument("--game", metavar="NAME", default="velonimo", help="of which game (default: %(default)s)")
    commands = parser.add_subparsers(dest="command", metavar="show BOT")
    show = commands.add_parser("show", help="tell what a bot does and what its parameters are")
    show.add_argument("bot", metavar="BOT", help="NAME, MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE")
    show.add_argument("--game", metavar="NAME", default=argparse.SUPPRESS, help="of which game (default: velonimo)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        options = _parser().parse_args(arguments)
        if options.command is None:
            list_bots(options.game)
        else:
            print("\n".join(describe_bot(parse_bot(options.bot, options.game))))
        return 0
    except UsageError as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except KeyboardInterrupt:
        say(COMMAND, "interrupted")
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    leave_with(main)
