"""The commands of rewards."""

from typing import Final

COMMANDS: Final = {
    "rewards": "commands:app",
    "rewards codes": "codes:app",
}
