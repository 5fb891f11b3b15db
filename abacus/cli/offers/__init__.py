"""The commands of offers."""

from typing import Final

COMMANDS: Final = {
    "offers": "commands:app",
    "offers codes": "codes:app",
    "offers invite": "offer_invitations:invite_members",
    "offers simulate": "offer_simulate:simulate_offer",
    "offers qualify": "offer_questions:qualify_offers",
    "offers validate": "offer_questions:validate_offers",
    "offers reserve": "offer_taking:reserve_offers",
    "offers redeem": "offer_taking:redeem_offer",
    "offers release": "offer_giving_back:release_offer",
    "offers rollback": "offer_giving_back:roll_back_offer",
    "offers backtest": "offer_backtest:backtest_offer",
    "offers report": "offer_report:report_offers",
}
