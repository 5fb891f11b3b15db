"""Finance's reports: what each needs to know, the command that makes it, and what of it is a chart. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from abacus.console.decide.charts import Along, Chart, Line, midnight
from abacus.core.errors import Refused
from abacus.programs.expiry.decide.month import Month

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Report:
    """`asks` is the name of its one parameter, a month or a day; None for a report of this moment. `needs` says whether
    it has to be given. `lines` are the columns of a chart along months, which stand in the column `along`.
    """

    name: str
    title: str
    about: str
    asks: str | None = None
    needs: bool = False
    more: tuple[str, ...] = ()
    along: str | None = None
    lines: tuple[str, ...] = ()

    def arguments(self, given: str) -> tuple[str, ...]:
        """Of the command, with the file that it keeps. Raises `Refused` for a parameter that is none."""
        read: Callable[[str], object] = Month.parse if self.asks == "month" else _day
        if self.asks is None or not given:
            if self.needs:
                raise Refused("Choose a month.")
            asked: tuple[str, ...] = ()
        else:
            read(given)
            asked = (f"--{self.asks}={given}",)
        return ("report", self.name, *asked, *self.more, "--json", f"--parquet={self.file(given)}")

    def file(self, given: str) -> str:
        return f"{self.name}{f'-{given}' if given else ''}.parquet"


REPORTS: Final[Mapping[str, Report]] = {
    each.name: each
    for each in (
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
            "ageing",
            "Ageing",
            "The points that lapse with each month's end, as things stand.",
            along="lapses",
            lines=("points",),
        ),
        Report(
            "cohorts",
            "Cohorts",
            "What became of each month's points: oldest points leave first.",
            "at",
            along="month",
            lines=("earned", "spent", "expired", "outstanding"),
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


def chart_of(report: Report, rows: Rows) -> Chart | None:
    """Summed over programs and countries; of rows without a month nothing is drawn."""
    if report.along is None:
        return None
    months: dict[date, dict[str, int]] = {}
    for row in rows:
        try:
            first = Month.parse(str(row[report.along])).first_day
        except Refused:
            continue
        sums = months.setdefault(first, dict.fromkeys(report.lines, 0))
        for name in report.lines:
            sums[name] += int(row.get(name) or 0)
    if not months:
        return None
    days = sorted(months)
    lines = [Line(name, [months[day][name] for day in days]) for name in report.lines]
    return Chart(f"{report.title} by month", Along.MONTHS, [midnight(day) for day in days], lines, "points")


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is not a day; write it as 2026-07-31") from None
