"""The commands that every kind of documents has, and those of all kinds at once."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {"apply": "apply:apply", "export": "export:export"}
