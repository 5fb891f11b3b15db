"""Counters: what is counted, in which versions, and a chart of any keys over any range. As over HTTP, for people whose
role holds in every country.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final

from abacus.console.decide.charts import Chart, check_steps, of_series
from abacus.console.decide.typed import exact_moment
from abacus.console.pages.drafts.register import PageDeed
from abacus.console.pages.drafts.versions import VersionTold, versions_told
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import Form
from abacus.console.web.page import Download, Page
from abacus.console.web.parts import Part
from abacus.core.csv_text import csv_text
from abacus.core.errors import Refused
from abacus.documents.types import Record
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.counters.new_keys import DayOfKeys
from abacus.signals.counters.reading.types import KeyPage, KeyRange, SeriesLookup
from abacus.signals.counters.types import Grain

_MOST_KEYS: Final = 4
_TOP: Final = 10
_KEYS_OF_PAGE: Final = 50
_USUAL: Final = timedelta(days=1)
GRAINS: Final = {"minutes": Grain.MINUTE, "quarters": Grain.QUARTER, "hours": Grain.HOUR, "days": Grain.DAY}
_STEPS: Final = tuple((step, step) for step in GRAINS)


@dataclass(frozen=True)
class CounterRow:
    """The latest version of a counter."""

    name: str
    label: str
    template: str
    on: Sequence[str]
    published_at: datetime | None
    by: str
    is_retired: bool


@dataclass(frozen=True)
class CountedVersion:
    """A version, and how many keys began to count on each day."""

    told: VersionTold
    most_new_keys: int
    new_keys: Sequence[DayOfKeys]


@dataclass(frozen=True, kw_only=True)
class CountersPage(Page):
    """The latest version of each definition, and the chart that was asked for."""

    template: ClassVar[str] = "counters.html"
    definitions: Part[Sequence[CounterRow]]
    chart: Part[Chart] | None
    may_draft: bool
    steps: Sequence[tuple[str, str]] = _STEPS


@dataclass(frozen=True, kw_only=True)
class CounterPage(Page):
    """Every version of a definition, the latest first; the keys with the largest counts of the last day, and a page of
    all keys.
    """

    template: ClassVar[str] = "counter.html"
    name: str
    versions: Sequence[CountedVersion]
    top: Part[KeyRange]
    keys: Part[KeyPage]
    since: str
    may_draft: bool
    deeds: Sequence[PageDeed] = ()


async def counters(call: Call) -> CountersPage:
    usual = {"from": (call.now - _USUAL).isoformat(timespec="minutes"), "step": "hours"}
    typed = usual | {name: value for name in ("keys", "from", "to", "step") if (value := call.asked(name))}
    form, keys = Form(typed), typed.get("keys", "").split()
    chart: Part[Chart] | None = None
    if len(keys) > _MOST_KEYS:
        form = form.but(keys=f"At most {_MOST_KEYS} keys.")
    elif keys:
        try:
            chart = await call.part(_chart(call, _lookups(call, keys, typed)))
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
        may_draft=call.may(COUNTERS.deed, None),
        form=form,
    )


async def export(call: Call) -> Download:
    """The chart's counts as CSV. Raises `PageFault` for what cannot be drawn."""
    asked = await counters(call)
    drawn = asked.chart.value if asked.chart is not None else None
    if drawn is None:
        down = asked.chart.down if asked.chart is not None else None
        raise PageFault("unavailable", down.detail) if down else PageFault("not-found", "Say which keys, and when.")
    rows = [["from", *(each.label for each in drawn.lines)]]
    for at, *counts in zip(drawn.times, *(each.values for each in drawn.lines), strict=True):
        rows.append([datetime.fromtimestamp(at, UTC).isoformat(), *map(str, counts)])
    return Download(f"counts-{drawn.latest_at.date()}.csv", "text/csv; charset=utf-8", csv_text(rows).encode())


async def counter(call: Call) -> CounterPage:
    desk, name = call.reading.counters, str(call.request.path_params["counter"])
    try:
        records = await desk.versions(name)
    except Refused:
        raise PageFault("not-found", "No counter has such a name.") from None
    told = versions_told(COUNTERS, records, call.now)
    versions = [
        CountedVersion(version, each.document.most_new_keys, await desk.new_keys(each.document))
        for version, each in zip(told, reversed(records), strict=True)
    ]
    may_draft = call.may(COUNTERS.deed, None)
    may_retire = may_draft and not records[-1].document.retired
    return CounterPage(
        title=name,
        command=f"abacus counters list {shlex.quote(name)}",
        name=name,
        versions=versions,
        top=await call.part(_largest(call, records[-1].document)),
        keys=await call.part(desk.keys(name, call.asked("after") or "", _KEYS_OF_PAGE)),
        since=(call.now - _USUAL).isoformat(timespec="minutes"),
        may_draft=may_draft,
        deeds=[PageDeed("Retire", f"/counters/{name}/retire")] if may_retire else (),
    )


async def _largest(call: Call, definition: Definition) -> KeyRange:
    """Of the last day, or of the last that a retired counter counted; nothing where that is forgotten."""
    end = call.now if definition.retired_at is None else definition.retired_at
    begin = end - _USUAL
    try:
        return await call.reading.counters.top(definition.name, int(begin.timestamp()), int(end.timestamp()), _TOP)
    except Refused:
        return KeyRange(0, 0, ())


async def _latest(call: Call) -> Sequence[CounterRow]:
    return [_row(each) for each in await call.reading.counters.records()]


def _row(record: Record[Definition]) -> CounterRow:
    definition = record.document
    return CounterRow(
        name=definition.name,
        label=definition.label,
        template=str(definition.template),
        on=[f"{source} {type_}" for source, type_ in definition.on],
        published_at=definition.published_at,
        by=record.published_by,
        is_retired=definition.retired,
    )


def _lookups(call: Call, keys: Sequence[str], typed: dict[str, str]) -> Sequence[SeriesLookup]:
    """Raises `ValueError`, in words."""
    if typed["step"] not in GRAINS:
        raise ValueError("Steps are minutes, quarters, hours or days.")
    begin = _second(typed["from"])
    end = _second(typed["to"]) if "to" in typed else int(call.now.timestamp()) + 1
    check_steps(begin, end, typed["step"])
    return [SeriesLookup(key, begin, end, GRAINS[typed["step"]]) for key in dict.fromkeys(keys)]


def _second(text: str) -> int:
    at = exact_moment(text)
    if at is None:
        raise ValueError("A time with its offset: 2026-11-23T00:00+08:00.")
    return int(at.timestamp())


async def _chart(call: Call, lookups: Sequence[SeriesLookup]) -> Chart:
    """All slots of all keys are read at once. Raises `Refused` for what cannot be counted."""
    told = await call.reading.counters.series(lookups)
    if not any(each.begins for each in told):
        raise Refused("The range is still to come.")
    return of_series("Counts", {lookup.key: each for lookup, each in zip(lookups, told, strict=True)})
