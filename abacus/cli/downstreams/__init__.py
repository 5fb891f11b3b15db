"""The commands of downstreams."""

from typing import Final

COMMANDS: Final = {"downstreams": "commands:app"}
