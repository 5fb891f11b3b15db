"""The commands of members: their points, tiers, expiry and messages."""

from typing import Final

COMMANDS: Final = {
    "tiers": "tiers:app",
    "expiry": "expiry:app",
    "points": "points:app",
    "adjustments": "adjustments:app",
    "members": "commands:app",
    "members transfers": "transfers:transfers",
    "notify": "notify:app",
}
