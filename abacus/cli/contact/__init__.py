"""The commands of contact policies."""

from typing import Final

COMMANDS: Final = {
    "contact": "commands:app",
}
