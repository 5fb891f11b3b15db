"""The commands of caches of answers."""

from typing import Final

COMMANDS: Final = {"caches": "commands:app"}
