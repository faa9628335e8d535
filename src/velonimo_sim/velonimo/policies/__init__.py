"""The bots of Velonimo: one file a bot; the table below says where each is, and it is loaded when it is named."""

from velonimo_sim.bot import text as bot_text
from velonimo_sim.bot.text import Bot

BUILT_IN = {
    "random": "uniform:uniform",
    "greedy": "greedy:greedy",
    "hold-hares": "hold_hares:hold_hares",
    "advised": "advised:advised",
    "exact": "exact:exact",
    "rollout": "rollout:rollout",
    "ismcts": "ismcts:ismcts",
    "champion": "champion:champion",
    "cheater": "cheater:cheater",
}
"""Every bot of the house: its name, the file of this folder and the function in it."""


def parse_bot(text: str) -> Bot:
    """Return the bot of Velonimo that a text describes.

    Raises
    ------
    UsageError
        If the bot or a parameter does not exist, cannot be loaded, or is of another game, or a value is impossible.
    """
    return bot_text.parse_bot(text, "velonimo")


def bot_names() -> list[str]:
    """Return the names of all bots of Velonimo, of the house and announced by installed packages; nothing is loaded."""
    return bot_text.bot_names("velonimo")
