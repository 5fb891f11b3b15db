"""The commands that start the house, or say how it does."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "up": "up:up",
    "worker": "worker:worker",
    "status": "status:status",
    "pulse": "pulse:pulse",
    "settings": "settings:settings",
    "queues": "queues:app",
    "dlq": "queues:dead",
}
