"""The commands of segments."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "segments": "commands:app",
}
