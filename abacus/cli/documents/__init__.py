"""The commands that every kind of documents has, and the commands for all kinds at once."""

from typing import Final

COMMANDS: Final = {"apply": "apply:apply", "export": "export:export"}
