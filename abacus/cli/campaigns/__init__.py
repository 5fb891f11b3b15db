"""The commands of campaigns."""

from typing import Final

COMMANDS: Final = {
    "campaigns": "commands:app",
    "campaigns simulate": "campaign_simulate:simulate_campaign",
    "campaigns backtest": "campaign_backtest:backtest_campaign",
    "campaigns report": "campaign_report:report_campaign",
}
