"""The commands of places."""

from typing import Final

COMMANDS: Final = {
    "places": "commands:app",
}
