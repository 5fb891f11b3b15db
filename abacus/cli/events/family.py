"""Sources of events on the command line: their desk, and drafts in files."""

from contextlib import nullcontext
from typing import Final

from abacus.cli.documents.family import Family
from abacus.cli.terminal.answer import counted
from abacus.cli.terminal.shell import settings
from abacus.signals.events.decide.source import Source
from abacus.signals.events.kind import SOURCES, Reserved, SourceDesk
from abacus.signals.events.wiring import built_in_sources


def _reserved() -> Reserved:
    config = settings()
    return Reserved(built_in_sources(config), config.events_topic)


def _sentence(source: Source) -> str:
    return f"{source.name} with {counted(len(source.types), 'type')}"


FAMILY: Final = Family(
    kind=SOURCES,
    desk=lambda at: nullcontext(SourceDesk(at.pool, at.clock, _reserved())),
    offline=_reserved,
    metavar="SOURCE",
    files="Sources, in TOML or JSON.",
    drafts="sources",
    one="a source",
    nothing_new="the sources are in the store already",
    sentence=_sentence,
)
