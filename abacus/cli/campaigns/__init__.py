"""The commands of campaigns."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "campaigns": "commands:app",
    "campaigns simulate": "campaign_simulate:simulate_campaign",
    "campaigns backtest": "campaign_backtest:backtest_campaign",
    "campaigns report": "campaign_report:report_campaign",
}
