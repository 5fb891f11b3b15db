"""The commands of counters."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "counters": "commands:app",
    "counters backfill": "counter_backfill:backfill",
    "counters store": "counter_store:app",
}
