"""`abacus events`: check, compare, publish and look at the sources of events."""

from typing import Any, Final

from abacus.cli.documents.commands import add_commands
from abacus.cli.documents.family import Rows
from abacus.cli.events.family import FAMILY
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.types import Record
from abacus.signals.events.decide.source import Source

app = CommandGroup(no_args_is_help=True, help="Sources of events: where the events of a stream stand in its messages.")


def _row(record: Record[Source]) -> dict[str, Any]:
    source, is_published = record.document, record.version.number > 0
    return {
        "name": source.label,
        "topic": source.topic,
        "senders": sorted(source.senders),
        "types": sorted(source.types),
        "published": record.published_at if is_published else None,
        "by": record.published_by if is_published else None,
    }


_ROWS: Final = Rows(
    title="Sources of events", columns=("name", "topic", "senders", "types", "published", "by"), row=_row
)
add_commands(app, FAMILY, _ROWS)
