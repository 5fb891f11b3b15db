"""Closing a month's books: a checklist that is checked, signed when nothing stands in the way, and taken back."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import ClassVar, Final
from zoneinfo import ZoneInfo

from abacus.console.decide.checklist import Item, checklist
from abacus.console.errands.types import Order, State
from abacus.console.pages.operations.errands import Done, ask, newest
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.core.errors import Refused, Unavailable
from abacus.oversight.closing.decide.obstacles import ACCEPTABLE
from abacus.oversight.closing.decide.record import Signed, closed_months
from abacus.oversight.closing.kind import accounts_desk
from abacus.oversight.closing.store import MonthCloses
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardReader
from abacus.programs.expiry.decide.month import Month

CHECK: Final = "close-check"
SIGN: Final = "close-sign"
RECONCILE: Final = "close-reconcile"
_ACCOUNT: Final = "reconciled.json"


@dataclass(frozen=True)
class Act:
    """An act on a month, as it was signed."""

    month: str
    number: int
    act: str
    signed_by: str
    signed_at: datetime
    reason: str
    files: Mapping[str, str]
    accepted: Sequence[str]
    seal: int | None


@dataclass(frozen=True, kw_only=True)
class ClosePage(Page):
    """A month: what was signed of it, what stands in the way, and the papers for the close."""

    template: ClassVar[str] = "month_close.html"
    month: str
    record: Sequence[Act]
    is_closed: bool
    items: Sequence[Item]
    check: Done | None
    account: Done | None
    signing: Done | None
    has_accounts: bool
    may_sign: bool
    may_close: bool


async def close(call: Call, typed: Form = EMPTY) -> ClosePage:
    month = _month(call)
    every = await MonthCloses(call.premises.pool).all()
    checked = await newest(call, CHECK, str(month))
    document = checked.document if checked is not None else None
    is_closed = month in closed_months(every)
    return ClosePage(
        title=f"Close {month}",
        command=f"abacus report close --month {month} --check",
        month=str(month),
        record=[act_of(each) for each in every if each.month == month],
        is_closed=is_closed,
        items=checklist(document),
        check=checked,
        account=await newest(call, RECONCILE, str(month)),
        signing=await newest(call, SIGN, str(month)),
        has_accounts=bool(await accounts_desk(call.premises.pool, call.premises.clock).records()),
        may_sign=not is_closed and document is not None and document["may_be_signed"],
        may_close=call.may(Deed.CLOSE_BOOKS, None),
        form=typed,
    )


async def go_to(call: Call) -> Page | See:
    """From the field of a month to its page."""
    try:
        month = Month.parse(call.form.get("month"))
    except Refused:
        raise PageFault("not-found", "Choose a month, such as 2026-07.") from None
    return See(f"/finance/close/{month}")


async def account(call: Call) -> Page | See:
    """Accounts for every message of the month, by the clocks of all countries."""
    month = _month(call)
    begin, end = _window(call, month)
    arguments = ("reconcile", f"--from={begin.isoformat()}", f"--to={end.isoformat()}", "--json")
    return await ask(call, Order(RECONCILE, str(month), None, arguments), f"/finance/close/{month}")


async def check(call: Call) -> Page | See:
    month, typed = _month(call), _checked(call.form.shown())
    if typed.wrong:
        return await close(call, typed)
    return await ask(call, await _order(call, month, typed, CHECK, "--check"), f"/finance/close/{month}")


async def sign(call: Call) -> Page | See:
    """With the papers and the acceptances of the last check, if nothing else stood in the way."""
    month = _month(call)
    checked = await newest(call, CHECK, str(month))
    if checked is None or checked.document is None or not checked.document["may_be_signed"]:
        typed = call.form.shown().but(sign="Something stands in the way: check the month, and mend or accept it.")
        return await close(call, typed)
    arguments = tuple(each for each in checked.errand.arguments if each != "--check")
    papers, keeps = (
        json.loads(checked.errand.papers),
        tuple(
            f"{name}-{month}.{ending}"
            for name, ending in (("rollforward", "csv"), ("journal", "csv"), ("accounts", "toml"))
        ),
    )
    return await ask(call, Order(SIGN, str(month), None, arguments, papers, keeps), f"/finance/close/{month}")


async def reopen(call: Call) -> Page | See:
    month, reason = _month(call), call.form.get("reason")
    if not reason:
        return await close(call, call.form.shown().but(reason="Say why; auditors read it."))
    arguments = ("report", "close", f"--month={month}", "--reopen", f"--reason={reason}", "--json")
    return await ask(call, Order(SIGN, str(month), None, arguments), f"/finance/close/{month}")


def act_of(signed: Signed) -> Act:
    return Act(
        month=str(signed.month),
        number=signed.number,
        act=signed.act,
        signed_by=signed.signed_by,
        signed_at=signed.signed_at,
        reason=signed.reason,
        files=signed.files,
        accepted=signed.accepted,
        seal=signed.seal,
    )


def _month(call: Call) -> Month:
    try:
        return Month.parse(call.request.path_params["month"])
    except Refused:
        raise PageFault("not-found", "There is no such month.") from None


def _checked(typed: Form) -> Form:
    """With the fault of what is accepted without a reason."""
    if _accepted(typed) and not typed.get("reason"):
        typed = typed.but(reason="Say why it is accepted; auditors read it.")
    return typed


def _accepted(typed: Form) -> list[str]:
    return [each for each in typed.get("accept[]").split("\n") if each in ACCEPTABLE]


async def _order(call: Call, month: Month, typed: Form, kind: str, *more: str) -> Order:
    arguments = ["report", "close", f"--month={month}"]
    papers: dict[str, str] = {}
    accounted = await newest(call, RECONCILE, str(month))
    if accounted is not None and accounted.errand.state is State.DONE:
        papers[_ACCOUNT] = json.dumps(accounted.document)
        arguments.append(f"--reconciled={_ACCOUNT}")
    arguments += [f"--accept={each}" for each in _accepted(typed)]
    if typed.get("reason"):
        arguments.append(f"--reason={typed.get('reason')}")
    return Order(kind, str(month), None, (*arguments, *more, "--json"), papers)


def _window(call: Call, month: Month) -> tuple[datetime, datetime]:
    """From where the month begins first to where it ends last."""
    try:
        book = call.rooms[CardReader].book()
        zones = [version.card.zone for scope in book.scopes() for version in book.versions(scope)]
    except Unavailable:
        zones = []
    zones = zones or [ZoneInfo("UTC")]
    begins = [datetime.combine(month.first_day, time(), zone).astimezone(UTC) for zone in zones]
    ends = [datetime.combine(month.last_day + timedelta(days=1), time(), zone).astimezone(UTC) for zone in zones]
    return min(begins), max(ends)
