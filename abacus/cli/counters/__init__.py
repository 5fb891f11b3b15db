"""The commands of counters."""

from typing import Final

COMMANDS: Final = {
    "counters": "commands:app",
    "counters backfill": "counter_backfill:backfill",
    "counters store": "counter_store:app",
}
