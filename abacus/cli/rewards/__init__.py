"""The commands of rewards."""

from typing import Final

COMMANDS: Final = {
    "rewards": "commands:app",
    "rewards codes": "codes:app",
    "rewards simulate": "reward_simulate:simulate_reward",
    "rewards backtest": "reward_backtest:backtest_reward",
    "rewards available": "redeeming:available_rewards",
    "rewards redeem": "redeeming:redeem_reward",
    "rewards cancel": "giving_back:cancel_redemption",
    "rewards return": "giving_back:return_redemption",
    "rewards reconcile": "reconcile:reconcile_rewards",
    "rewards report": "reward_report:report_rewards",
}
