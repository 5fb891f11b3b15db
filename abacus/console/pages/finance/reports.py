"""Finance: the books of points as reports, and the assumptions behind their money."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import ClassVar, Final

from abacus.approving.assumptions import Assumed, assumption_proposal
from abacus.console.decide.charts import Chart
from abacus.console.decide.month_list import MonthLine, months_of, next_of
from abacus.console.decide.reports import REPORTS, Report, charts_of
from abacus.console.errands.types import Order
from abacus.console.pages.operations.errands import Done, ask, newest
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import ASKED, Page, See
from abacus.console.web.parts import Part
from abacus.core.errors import Refused
from abacus.core.ids import PROGRAM_PATTERN
from abacus.oversight.closing.store import MonthCloses
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import Assumption, Estimate, read_price, read_share
from abacus.people.store.approvals import Approvals
from abacus.people.types.deed import Deed
from abacus.programs.expiry.decide.month import Month

_PATTERNS: Final = {"program": PROGRAM_PATTERN, "country": "[A-Z]{2}", "currency": "[A-Z]{3}"}
_PRICES: Final = ("cost_per_point", "selling_price", "allocated_per_point")


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


@dataclass(frozen=True, kw_only=True)
class AssumptionsPage(Page):
    """Every version, the newest first."""

    template: ClassVar[str] = "assumptions.html"
    versions: Part[Sequence[Assumption]]
    may_set: bool


async def finance(call: Call) -> FinancePage:
    record = await call.part(MonthCloses(call.premises.pool).all())
    signed, last = record.value or (), Month.of(call.now.date()).before
    return FinancePage(
        title="Finance",
        command="abacus report --help",
        reports=[(each.name, each.title, each.about) for each in REPORTS.values()],
        liability=await call.part(newest(call, REPORTS["liability"].task, "")),
        months=Part(months_of(signed, last), record.down),
        next=str(next_of(signed, last)),
    )


async def report(call: Call) -> ReportPage:
    which = _which(call)
    given = call.asked(which.asks) if which.asks is not None else None
    return await _page(call, which, given or "", EMPTY)


async def calculate(call: Call) -> Page | See:
    which = _which(call)
    given = call.form.get(which.asks) if which.asks is not None else ""
    try:
        arguments = which.arguments(given, call.now.date())
    except Refused as fault:
        return await _page(call, which, given, call.form.shown().but(**{which.asks or "": str(fault)}))
    return await ask(
        call,
        Order(which.task, given, None, arguments, keeps=(which.file(given, call.now.date()),)),
        f"/finance/reports/{which.name}" + (f"?{which.asks}={given}" if given else ""),
    )


async def assumptions(call: Call, *, form: Form = EMPTY, fault: str | None = None) -> AssumptionsPage:
    async def versions() -> Sequence[Assumption]:
        return list(reversed(await AssumptionStore(call.premises.pool).all()))

    return AssumptionsPage(
        title="Assumptions",
        command="abacus report assumptions show",
        versions=await call.part(versions()),
        may_set=call.may(Deed.SET_ASSUMPTIONS, None),
        form=form,
        fault=fault,
    )


async def set_assumption(call: Call) -> Page | See:
    """Another person approves it."""
    typed = call.form.shown()
    typed = typed.but(
        **{
            name: "That does not look like one."
            for name, pattern in _PATTERNS.items()
            if re.fullmatch(pattern, typed.get(name)) is None
        }
    )
    if not typed.get("reason"):
        typed = typed.but(reason="Say why; auditors read it.")
    typed, since = _since(typed, call.now.date())
    typed, estimate = _estimate(typed)
    if typed.wrong or estimate is None:
        return await assumptions(call, form=typed)
    program, country, reason = (typed.get(name) for name in ("program", "country", "reason"))
    call.check(Deed.SET_ASSUMPTIONS, country)
    try:
        await AssumptionStore(call.premises.pool).check(program, country, since, estimate)
    except Refused as fault:
        return await assumptions(call, form=typed, fault=str(fault))
    wanted = Assumed(program, country, since, estimate, reason)
    approval = await call.rooms[Approvals].ask(assumption_proposal(wanted), call.actor.agent)
    return See(f"/approvals/{approval.approval_id}", ASKED)


def _which(call: Call) -> Report:
    which = REPORTS.get(call.request.path_params["report"])
    if which is None:
        raise PageFault("not-found", "There is no such report.")
    return which


async def _page(call: Call, which: Report, given: str, typed: Form) -> ReportPage:
    done = await call.part(newest(call, which.task, given))
    rows = done.value.document["rows"] if done.value is not None and done.value.document else ()
    if which.asks == "month" and not given:
        typed = Form({"month": str(Month.of(call.now.date()).before), **typed.typed}, typed.wrong)
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
        form=typed,
    )


def _since(typed: Form, today: date) -> tuple[Form, date]:
    if not typed.get("effective_from"):
        return typed, today
    try:
        return typed, date.fromisoformat(typed.get("effective_from"))
    except ValueError:
        return typed.but(effective_from="Write a day, such as 2026-07-01."), today


def _estimate(typed: Form) -> tuple[Form, Estimate | None]:
    """With the faults of its numbers."""
    prices: dict[str, Decimal | None] = dict.fromkeys(_PRICES)
    for name in _PRICES:
        try:
            prices[name] = read_price(typed.get(name), "") if typed.get(name) else None
        except Refused as fault:
            typed = typed.but(**{name: str(fault).removeprefix(": ")})
    try:
        share = read_share(typed.get("expected_use"))
    except Refused as fault:
        return typed.but(expected_use=str(fault).removeprefix("--expected-use: ")), None
    return typed, Estimate(typed.get("currency"), share, **prices)
