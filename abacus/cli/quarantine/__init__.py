"""The commands of the quarantine."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "quarantine": "commands:app",
}
