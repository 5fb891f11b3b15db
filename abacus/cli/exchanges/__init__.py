"""The commands of exchanges with partners."""

from typing import Final

COMMANDS: Final = {
    "exchanges": "commands:app",
}
