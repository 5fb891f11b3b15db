"""The commands of offers."""

from typing import Final

COMMANDS: Final = {
    "offers": "commands:app",
    "offers codes": "codes:app",
    "offers invite": "offer_invitations:invite_members",
    "offers report": "offer_report:report_offers",
}
