"""The commands of segments."""

from typing import Final

COMMANDS: Final = {"segments": "commands:app"}
