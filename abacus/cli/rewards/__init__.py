"""The commands of rewards."""

from typing import Final

COMMANDS: Final = {
    "rewards": "commands:app",
    "rewards codes": "codes:app",
    "rewards reconcile": "reconcile:reconcile_rewards",
    "rewards report": "reward_report:report_rewards",
}
