"""The commands of rewards."""

from typing import Final

COMMANDS: Final = {
    "rewards": "commands:app",
    "rewards codes": "codes:app",
    "rewards cancel": "giving_back:cancel_redemption",
    "rewards return": "giving_back:return_redemption",
    "rewards reconcile": "reconcile:reconcile_rewards",
    "rewards report": "reward_report:report_rewards",
}
