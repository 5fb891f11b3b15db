"""`abacus demo`: the command, its stream, and the steps after the stream."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "demo": "command:demo",
}
