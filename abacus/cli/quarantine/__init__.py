"""The commands of the quarantine."""

from typing import Final

COMMANDS: Final = {"quarantine": "commands:app"}
