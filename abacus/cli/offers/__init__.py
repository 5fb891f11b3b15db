"""The commands of offers."""

from typing import Final

COMMANDS: Final = {
    "offers": "commands:app",
    "offers invite": "offer_invitations:invite_members",
}
