"""Counters on the command line: their desk, and drafts in files."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Final

from abacus.cli.documents.family import Family
from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import settings
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.wiring import built_in_sources


def counter_desk(at: CommandActor) -> CounterDesk:
    return CounterDesk(at.pool, at.clock, built_in_sources(settings()))


def _with_drafts(around: CounterPublications, drafts: Mapping[str, Sequence[Any]]) -> CounterPublications:
    drafted = {source.name: source for source in drafts.get("events", ())}
    return around._replace(sources={**around.sources, **drafted})


FAMILY: Final = Family(
    kind=COUNTERS,
    desk=lambda at: nullcontext(counter_desk(at)),
    files="Definitions, in TOML or JSON.",
    drafts="definitions",
    one="a definition",
    nothing_new="the definitions are in force already",
    with_drafts=_with_drafts,
    sentence=lambda definition: f"{definition.name} counts {definition.template}",
)
