"""Finance's reports: what each needs to know, the command that makes it, and what of it is a chart. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from abacus.console.decide.charts import Along, Chart, Line, Value, midnight
from abacus.core.errors import Refused
from abacus.oversight.reports.decide.rollforward import SIGNS
from abacus.programs.expiry.decide.month import Month

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Drawn:
    """A chart along months, which stand in the column `along`, with a line for each of the columns `lines`. `each`: one
    chart for each text of that column, which is its unit.
    """

    title: str
    along: str
    lines: tuple[str, ...]
    each: str | None = None


@dataclass(frozen=True)
class Report:
    """`asks` is the name of its one parameter, a month or a day; None for a report of this moment. `needs` says whether
    it has to be given. `also` names commands that print the same figures, with the figures.
    """

    name: str
    title: str
    about: str
    asks: str | None = None
    needs: bool = False
    more: tuple[str, ...] = ()
    charts: tuple[Drawn, ...] = ()
    also: tuple[tuple[str, str], ...] = ()

    @property
    def task(self) -> str:
        """The kind of its task."""
        return f"report-{self.name}"

    def arguments(self, given: str, today: date) -> tuple[str, ...]:
        """Of the command, with the file that it keeps. Raises `Refused` for a parameter that is none."""
        read: Callable[[str], object] = Month.parse if self.asks == "month" else _day
        if self.asks is None or not given:
            if self.needs:
                raise Refused("Choose a month.")
            asked: tuple[str, ...] = ()
        else:
            read(given)
            asked = (f"--{self.asks}={given}",)
        return ("report", self.name, *asked, *self.more, "--json", f"--parquet={self.file(given, today)}")

    def commands(self, given: str) -> list[tuple[str, str]]:
        """The figures, and the command that prints the same."""
        return [(figures.format(given=given), command.format(given=given)) for figures, command in self.also if given]

    def file(self, given: str, today: date) -> str:
        """With the month or the day that it is about in its name."""
        return f"{self.name}-{given or today.isoformat()}.parquet"


MONTHS: Final = Report(
    "months",
    "Month by month",
    "The roll-forward and the liability of twelve months beside each other.",
    "month",
    needs=True,
    charts=(
        Drawn("Points that moved", "month", tuple(SIGNS)),
        Drawn("Points held at the month's end", "month", ("outstanding",)),
        Drawn("Liability at the month's end", "month", ("liability",), each="currency"),
    ),
    also=(
        ("Opening to closing of {given}", "abacus report rollforward --month {given} --by country"),
        ("Outstanding and liability of {given}", "abacus report liability --at {given}"),
    ),
)
REPORTS: Final[Mapping[str, Report]] = {
    each.name: each
    for each in (
        MONTHS,
        Report(
            "rollforward",
            "Roll-forward",
            "A month's opening points, movements and closing points, and that they tie to the ledger.",
            "month",
            needs=True,
            more=("--by=country",),
        ),
        Report("liability", "Liability", "The points that members hold, and their expected cost.", "at"),
        Report(
            "benefits",
            "Offers and rewards",
            "What offers gave and rewards cost in a month, by the cost centre or partner that pays.",
            "month",
            needs=True,
        ),
        Report(
            "ageing",
            "Ageing",
            "The points that lapse with each month's end, as things stand.",
            charts=(Drawn("Ageing by month", "lapses", ("points",)),),
        ),
        Report(
            "cohorts",
            "Cohorts",
            "What became of each month's points: oldest points leave first.",
            "at",
            charts=(Drawn("Cohorts by month", "month", ("earned", "spent", "expired", "outstanding")),),
        ),
        Report(
            "revenue",
            "Revenue",
            "How much of the sales is deferred for points, and how much a month recognises.",
            "month",
            needs=True,
        ),
    )
}


def charts_of(report: Report, rows: Rows) -> list[Chart]:
    """Summed over programs and countries; of rows without a month nothing is drawn."""
    return [
        chart
        for drawn in report.charts
        for unit, these in _by_unit(drawn, rows).items()
        if (chart := _chart(drawn, unit, these)) is not None
    ]


def _by_unit(drawn: Drawn, rows: Rows) -> Mapping[str, Rows]:
    if drawn.each is None:
        return {"points": rows}
    units = sorted({str(row.get(drawn.each)) for row in rows if row.get(drawn.each) is not None})
    return {unit: [row for row in rows if row.get(drawn.each) == unit] for unit in units}


def _chart(drawn: Drawn, unit: str, rows: Rows) -> Chart | None:
    months: dict[date, list[Mapping[str, Any]]] = {}
    for row in rows:
        try:
            first = Month.parse(str(row[drawn.along])).first_day
        except Refused:
            continue
        months.setdefault(first, []).append(row)
    if not months:
        return None
    days = sorted(months)
    lines = [Line(name, [_sum(each.get(name) for each in months[day]) for day in days]) for name in drawn.lines]
    return Chart(drawn.title, Along.MONTHS, [midnight(day) for day in days], lines, unit)


def _sum(values: Iterable[int | str | None]) -> Value:
    """Of what is known. An amount of money is text, so that no digit of it is lost."""
    known = [Decimal(each) if isinstance(each, str) else each for each in values if each is not None]
    return sum(known) if known else None


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is not a day; write it as 2026-07-31") from None
