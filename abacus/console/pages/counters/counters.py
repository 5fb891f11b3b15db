"""Counters: what is counted, in which versions, and a chart of any keys over any range. As over HTTP, for people whose
role holds in every country.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final

from abacus.console.decide.steps import SECONDS, Span, spans_of
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Download, Page
from abacus.console.web.parts import Part
from abacus.core.csv_text import csv_text
from abacus.core.errors import Refused
from abacus.documents.moment import read_moment
from abacus.documents.store import DocumentStore, named
from abacus.documents.types import Record
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.diff import described
from abacus.signals.counters.decide.tiles import end_of_quarter
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.counters.new_keys import DayOfKeys, new_keys_of
from abacus.signals.counters.reading.decide.plan import LookupPlan, Planner
from abacus.signals.counters.reading.types import Lookup, NotCounted
from abacus.signals.counters.types import SlotRange

_MOST_KEYS: Final = 4
_USUAL: Final = timedelta(days=1)
_STEPS: Final = tuple((step, step) for step in SECONDS)


@dataclass(frozen=True)
class Version:
    """A version of a definition, and on its own page how many keys began to count on each day."""

    name: str
    label: str
    template: str
    on: Sequence[str]
    published_at: datetime | None
    by: str
    retired_at: datetime | None
    lines: Sequence[Sequence[str]]
    most_new_keys: int
    new_keys: Sequence[DayOfKeys] = ()


@dataclass(frozen=True)
class Series:
    """The counts of a key, one for each step. Decimals are drawn as the nearest number that a chart has."""

    label: str
    values: Sequence[float]


@dataclass(frozen=True)
class Chart:
    """`times` are the beginnings of the steps, in seconds since 1970."""

    times: Sequence[int]
    series: Sequence[Series]
    rows: Sequence[tuple[datetime, Sequence[str]]]


@dataclass(frozen=True, kw_only=True)
class CountersPage(Page):
    """The latest version of each definition, and the chart that was asked for."""

    template: ClassVar[str] = "counters.html"
    definitions: Part[Sequence[Version]]
    chart: Part[Chart] | None
    steps: Sequence[tuple[str, str]] = _STEPS
    form: Form = EMPTY


@dataclass(frozen=True, kw_only=True)
class CounterPage(Page):
    """Every version of a definition, the latest first."""

    template: ClassVar[str] = "counter.html"
    versions: Sequence[Version]


async def counters(call: Call) -> CountersPage:
    usual = {"from": (call.now - _USUAL).isoformat(timespec="minutes"), "step": "hours"}
    typed = usual | {name: value for name in ("keys", "from", "to", "step") if (value := call.asked(name))}
    form, keys = Form(typed), typed.get("keys", "").split()
    chart: Part[Chart] | None = None
    if len(keys) > _MOST_KEYS:
        form = form.but(keys=f"At most {_MOST_KEYS} keys.")
    elif keys:
        try:
            spans = _spans(call, typed)
            chart = await call.part(_chart(call, keys, spans))
        except ValueError as error:
            form = form.but(**{"from": str(error)})
        except Refused as error:
            form = form.but(keys=str(error))
    command = f"abacus counters get {shlex.quote(keys[0])} --from {shlex.quote(typed['from'])}" if keys else None
    return CountersPage(
        title="Counters",
        command=command or "abacus counters list",
        definitions=await call.part(_latest(call)),
        chart=chart,
        form=form,
    )


async def export(call: Call) -> Download:
    """The chart's counts as CSV. Raises `PageFault` for what cannot be drawn."""
    asked = await counters(call)
    drawn = asked.chart.value if asked.chart is not None else None
    if drawn is None:
        down = asked.chart.down if asked.chart is not None else None
        raise PageFault("unavailable", down.detail) if down else PageFault("not-found", "Say which keys, and when.")
    rows = [["from", *(each.label for each in drawn.series)]]
    rows += [[at.isoformat(), *counts] for at, counts in drawn.rows]
    return Download("counts.csv", "text/csv; charset=utf-8", csv_text(rows).encode())


async def counter(call: Call) -> CounterPage:
    store, name = DocumentStore(call.reading.pool, COUNTERS), str(call.request.path_params["counter"])
    try:
        latest = named(COUNTERS, name, await store.latest())
    except Refused:
        raise PageFault("not-found", "No counter has such a name.") from None
    versions = [
        _version(each, await new_keys_of(call.reading.pool, each.document))
        for each in await store.history(latest.version.key)
    ]
    return CounterPage(title=name, command=f"abacus counters list {shlex.quote(name)}", versions=versions)


async def _latest(call: Call) -> Sequence[Version]:
    return [_version(each) for each in await DocumentStore(call.reading.pool, COUNTERS).latest()]


def _version(record: Record[Definition], new_keys: Sequence[DayOfKeys] = ()) -> Version:
    definition = record.document
    return Version(
        name=definition.name,
        label=definition.label,
        template=str(definition.template),
        on=[f"{source} {type_}" for source, type_ in definition.on],
        published_at=definition.published_at,
        by=record.published_by,
        retired_at=definition.retired_at,
        lines=list(described(definition)),
        most_new_keys=definition.most_new_keys,
        new_keys=new_keys,
    )


def _spans(call: Call, typed: dict[str, str]) -> Sequence[Span]:
    """Raises `ValueError`, in words."""
    if typed["step"] not in SECONDS:
        raise ValueError("Steps are quarters, hours or days.")
    begin = _second(typed["from"])
    end = _second(typed["to"]) if "to" in typed else end_of_quarter(int(call.now.timestamp()))
    return spans_of(begin, end, typed["step"])


def _second(text: str) -> int:
    said = "A time with its offset: 2026-11-23T00:00+08:00."
    try:
        read = datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        raise ValueError(said) from None
    if read.tzinfo is None:
        raise ValueError(said)
    return int(read.timestamp())


async def _chart(call: Call, keys: Sequence[str], spans: Sequence[Span]) -> Chart:
    """All steps of all keys are summed in one call of the store. Raises `Refused` for what cannot be counted."""
    published = await read_moment(call.reading.pool, COUNTERS)
    catalog, now = Catalog(published.of(COUNTERS), {}), int(call.now.timestamp())
    planner = Planner(catalog, now, late_by_s=0, keeps=lambda _: False)
    plans = [[_planned(planner, Lookup(key, *span)) for span in spans] for key in keys]
    ranges = [[SlotRange(plan.key, *slots) for slots in plan.shape.open] for planned in plans for plan in planned]
    sums = iter(await call.reading.counters.sums([each for some in ranges for each in some]))
    totals = iter([sum(next(sums) for _ in some) for some in ranges])
    values = [[plan.counted(next(totals)).value for plan in planned] for planned in plans]
    return Chart(
        times=[span.begin for span in spans],
        series=[Series(key, [float(each) for each in counts]) for key, counts in zip(keys, values, strict=True)],
        rows=[
            (datetime.fromtimestamp(span.begin, UTC), [str(counts[place]) for counts in values])
            for place, span in enumerate(spans)
        ],
    )


def _planned(planner: Planner, lookup: Lookup) -> LookupPlan:
    plan = planner.plan(lookup)
    if isinstance(plan, NotCounted):
        raise Refused(plan.detail)
    return plan
