"""The commands of the journal's accounts."""

from typing import Final

COMMANDS: Final = {"accounts": "commands:app"}
