"""The commands of event sources."""

from typing import Final

COMMANDS: Final = {"events": "commands:app"}
