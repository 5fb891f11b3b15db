"""The commands of members: their points, tiers, expiry and messages."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "tiers": "tiers:app",
    "expiry": "expiry:app",
    "points": "points:app",
    "adjustments": "adjustments:app",
    "members": "commands:app",
    "members transfers": "transfers:transfers",
    "notify": "notify:app",
}
