"""The report of a kind with states: over some days, parted by what is chosen, as a table and by day as a chart."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import ClassVar, Final, NamedTuple, TypeAlias

from abacus.console.decide.charts import Chart
from abacus.console.decide.typed import day
from abacus.console.errands.decide.documents import MOST_ROWS, Cell, Column, Table
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.core.clock import latest_day
from abacus.oversight.reports.decide.sheet import Cell as SheetCell
from abacus.oversight.reports.decide.sheet import Sheet

_USUAL: Final = timedelta(days=29)  # and the last day
_MOST_DAYS: Final = 366
_FIELDS: Final = ("from", "to", "by", "name")


class Asked(NamedTuple):
    """The days, both included, of all documents or of one, and what the lines are parted by."""

    since: date
    until: date
    name: str | None
    by: str


@dataclass(frozen=True)
class Found:
    """The lines, and what happened by day where anything did."""

    lines: Table
    chart: Chart | None


def table_of(data: Sheet) -> Table:
    """Its first lines."""
    columns = [Column(each.name.replace("_", " "), each.type not in {str, date}) for each in data.columns]
    rows = [[_cell(each) for each in row] for row in data.rows[:MOST_ROWS]]
    return Table(data.name, data.title, columns, rows, len(data.rows))


def _cell(value: SheetCell) -> Cell:
    return value if value is None or isinstance(value, int) else str(value)


Read: TypeAlias = Callable[[Call, Asked], Awaitable[Found]]


@dataclass(frozen=True, kw_only=True)
class StatedReportPage(Page):
    """Without anything read where a day is wrong."""

    template: ClassVar[str] = "stated_report.html"
    about: str
    path: str
    back: str
    parts: Sequence[tuple[str, str]]
    found: Part[Found] | None


@dataclass(frozen=True, kw_only=True)
class ReportPages:
    """`plural` is what the pages of all stand under."""

    plural: str
    about: str
    by: type[StrEnum]
    read: Read

    @property
    def path(self) -> str:
        return f"/{self.plural}-report"

    async def page(self, call: Call) -> StatedReportPage:
        asked, form = self._asked(call, call.narrowed(*_FIELDS))
        named = f" {form.get('name')}" if form.get("name") else ""
        return StatedReportPage(
            title=f"Report of{named or f' {self.plural}'}",
            command=f"abacus {self.plural} report{named}"
            + (f" --from {asked.since} --to {asked.until} --by {asked.by}" if asked else ""),
            about=self.about,
            path=self.path,
            back=f"/{self.plural}",
            parts=[(each.value, each.value.replace("-", " ")) for each in self.by],
            found=await call.part(self.read(call, asked)) if asked is not None else None,
            form=form,
        )

    def _asked(self, call: Call, form: Form) -> tuple[Asked | None, Form]:
        by = call.chosen("by", self.by) or next(iter(self.by))
        days, typed = days_asked(call, Form({**form.typed, "by": by.value}))
        return (None if days is None else Asked(*days, form.get("name") or None, by.value)), typed


def days_asked(call: Call, form: Form) -> tuple[tuple[date, date] | None, Form]:
    """The first day and the last, the last 30 days where none is named; None where one is wrong."""
    until = day(form.get("to")) or latest_day(call.now)
    since = day(form.get("from")) or until - _USUAL
    whole = {"from": form.get("from") or str(since), "to": form.get("to") or str(until)}
    typed = Form({**form.typed, **whole}).with_days("from", "to")
    if not typed.wrong and not 0 <= (until - since).days < _MOST_DAYS:
        typed = typed.but(to=f"Choose at most {_MOST_DAYS} days, the last not before the first.")
    return (None if typed.wrong else (since, until)), typed
