"""The commands of categories."""

from typing import Final

COMMANDS: Final = {
    "categories": "commands:app",
}
