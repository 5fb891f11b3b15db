"""`abacus events`: check, compare, publish and look at the sources of events."""

from contextlib import nullcontext
from typing import Any, Final

from abacus.cli.documents.commands import add_commands
from abacus.cli.documents.family import Family, Rows
from abacus.cli.terminal.answer import counted
from abacus.cli.terminal.shell import CommandGroup, settings
from abacus.documents.types import Record
from abacus.signals.events.decide.source import Source
from abacus.signals.events.kind import SOURCES, Reserved, source_desk
from abacus.signals.events.wiring import built_in_sources

app = CommandGroup(no_args_is_help=True, help="Sources of events: where the events of a stream stand in its messages.")


def _reserved() -> Reserved:
    config = settings()
    return Reserved(built_in_sources(config), config.events_topic)


def _sentence(source: Source) -> str:
    return f"{source.name} with {counted(len(source.types), 'type')}"


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


FAMILY: Final = Family(
    kind=SOURCES,
    desk=lambda at: nullcontext(source_desk(at.pool, at.clock, _reserved())),
    offline=_reserved,
    metavar="SOURCE",
    files="Sources, in TOML or JSON.",
    drafts="sources",
    one="a source",
    nothing_new="the sources are in the store already",
    sentence=_sentence,
)
_ROWS: Final = Rows(
    title="Sources of events", columns=("name", "topic", "senders", "types", "published", "by"), row=_row
)
add_commands(app, FAMILY, _ROWS)
