"""The commands of downstreams."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "downstreams": "commands:app",
}
