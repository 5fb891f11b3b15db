"""Finance: the books of points as reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from abacus.console.decide.charts import Chart
from abacus.console.decide.month_list import MonthLine, months_of, next_of
from abacus.console.decide.reports import REPORTS, Report, charts_of
from abacus.console.errands.types import Order
from abacus.console.pages.operations.errands import Done, ask, newest
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.core.errors import Refused
from abacus.oversight.closing.store import MonthCloses
from abacus.programs.expiry.decide.month import Month


@dataclass(frozen=True, kw_only=True)
class FinancePage(Page):
    """The reports, what members hold by the last count, and the months; `next` is to be closed next."""

    template: ClassVar[str] = "finance.html"
    reports: Sequence[tuple[str, str, str]]
    liability: Part[Done | None]
    months: Part[Sequence[MonthLine]]
    next: str


@dataclass(frozen=True, kw_only=True)
class ReportPage(Page):
    """The newest one with these parameters; `also` has commands that print the same figures."""

    template: ClassVar[str] = "report.html"
    name: str
    about: str
    asks: str | None
    given: str
    done: Part[Done | None]
    charts: Sequence[Chart]
    also: Sequence[tuple[str, str]]


async def finance(call: Call) -> FinancePage:
    record = await call.part(MonthCloses(call.premises.pool).all())
    signed, last = record.value or (), Month.of(call.now.date()).before
    return FinancePage(
        title="Reports and months",
        command="abacus report --help",
        reports=[(each.name, each.title, each.about) for each in REPORTS.values()],
        liability=await call.part(newest(call, REPORTS["liability"].task, "")),
        months=Part(months_of(signed, last), record.down),
        next=str(next_of(signed, last)),
    )


async def report(call: Call) -> ReportPage:
    which, today = _which(call), call.now.date()
    asks = which.asks or ""
    given, form = call.given(asks) or "" if asks else "", EMPTY
    if not given and asks == "month":
        form = Form({asks: str(Month.of(today).before)})
    try:
        _ = which.arguments(given, today) if given else ()
    except Refused as fault:
        given, form = "", Form({asks: given}).but(**{asks: str(fault)})
    done = await call.part(newest(call, which.task, given))
    rows = done.value.document["rows"] if done.value is not None and done.value.document else ()
    return ReportPage(
        title=which.title,
        command=f"abacus report {which.name}" + (f" --{which.asks} {given}" if given else ""),
        name=which.name,
        about=which.about,
        asks=which.asks,
        given=given,
        done=done,
        charts=charts_of(which, rows),
        also=which.commands(given),
        form=form,
    )


async def calculate(call: Call) -> See:
    which, today = _which(call), call.now.date()
    given = call.form.get(which.asks) if which.asks is not None else ""
    try:
        arguments = which.arguments(given, today)
    except Refused as fault:
        raise call.wrong(**{which.asks or "": str(fault)}) from None
    order = Order(which.task, given, None, arguments, keeps=(which.file(given, today),))
    return await ask(call, order, f"/finance/reports/{which.name}" + (f"?{which.asks}={given}" if given else ""))


def _which(call: Call) -> Report:
    which = REPORTS.get(call.request.path_params["report"])
    if which is None:
        raise PageFault("not-found", "There is no such report.")
    return which
