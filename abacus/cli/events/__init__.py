"""The commands of event sources."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "events": "commands:app",
}
