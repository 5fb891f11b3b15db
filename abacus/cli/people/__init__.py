"""The commands of people: their roles, approvals, and ways into the console."""

from typing import Final

COMMANDS: Final = {
    "approvals": "approvals:app",
    "people": "commands:app",
    "people password": "people_entry:password",
    "people totp": "people_entry:totp",
    "console": "console:app",
}
