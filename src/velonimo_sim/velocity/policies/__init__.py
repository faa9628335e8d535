"""The bots of VeloCity: one file a bot; the table below says where each is, and it is loaded when it is named."""

BUILT_IN = {
    "random": "uniform:uniform",
    "greedy": "greedy:greedy",
    "saver": "saver:saver",
    "rollout": "rollout:rollout",
}
"""Every bot of the house: its name, the file of this folder and the function in it."""
