"""The commands that start the house, or say how it does."""

from typing import Final

COMMANDS: Final = {
    "up": "up:up",
    "worker": "worker:worker",
    "status": "status:status",
    "doctor": "doctor:doctor",
    "pulse": "pulse:pulse",
    "settings": "settings:settings",
    "queues": "queues:app",
    "dlq": "queues:dead",
}
