"""The commands that every kind of documents has, and the commands for all kinds at once."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {"apply": "apply:apply", "export": "export:export"}
