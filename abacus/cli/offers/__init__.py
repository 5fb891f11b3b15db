"""The commands of offers."""

from typing import Final

COMMANDS: Final = {
    "offers": "commands:app",
    "offers codes": "codes:app",
    "offers invite": "offer_invitations:invite_members",
    "offers simulate": "offer_simulate:simulate_offer",
    "offers backtest": "offer_backtest:backtest_offer",
    "offers report": "offer_report:report_offers",
}
