"""`abacus demo`: the command, its stream, and the steps after the stream."""

from typing import Final

COMMANDS: Final = {"demo": "command:demo"}
