"""One break: what both books say, whose it is, and why it was closed."""

from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar
from uuid import UUID

from abacus.console.decide.reasons import LONGEST
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page, See
from abacus.core.errors import Absent, Refused
from abacus.core.money_text import read_sum
from abacus.documents.stated import last_approved
from abacus.exchanges.books.break_rows import FoundBreak
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.matching import BreakKind
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.people.types.deed import Deed

MEANS = {
    BreakKind.NOT_THEIRS: "Our book says that the partner has credited it; none of its statements does.",
    BreakKind.NOT_OURS: "The partner's statement has it; our book does not.",
    BreakKind.AMOUNT: "The partner has credited another amount.",
    BreakKind.RELEASED: "The partner has credited what our book let go.",
    BreakKind.CAPTURED: "The partner has refused what our book took from the member.",
    BreakKind.REVERSAL: "It was taken back on one side alone.",
    BreakKind.SHORT: "The partner credited it before our book was restored; the member's points are gone since.",
    BreakKind.SUMS: "The partner's statement does not add up, so nothing of it was read.",
    BreakKind.MISSING: "There is no statement of that day.",
    BreakKind.INVOICE: "The partner's invoice says another sum than our statement.",
    BreakKind.PAYMENT: "It is not paid in time, or with another sum.",
}


@dataclass(frozen=True, kw_only=True)
class BreakPage(Page):
    """A break in words."""

    template: ClassVar[str] = "exchange_break.html"
    row: FoundBreak
    means: str
    may_keep: bool


async def the_break(call: Call) -> BreakPage:
    found = await _found(call)
    return BreakPage(
        title=f"Break of {found.programme}",
        command=f"abacus exchanges breaks list --programme {found.programme}",
        row=found,
        means=MEANS[found.kind],
        may_keep=found.closed_at is None and call.may(Deed.CLOSE_BOOKS, found.country),
    )


async def take(call: Call) -> See:
    found = await _found(call)
    call.check(Deed.CLOSE_BOOKS, found.country)
    await _desk(call).take(found, call.actor)
    return See(f"/exchange-breaks/{found.break_id}", "It is yours now.")


async def close(call: Call) -> See:
    """With a correction of the balance, where one was typed."""
    found, reason = await _found(call), call.form.get("reason")
    call.check(Deed.CLOSE_BOOKS, found.country)
    if not reason or len(reason) > LONGEST:
        raise call.wrong(reason=f"Say why, in at most {LONGEST} characters.")
    programme = last_approved(await ProgrammeStore(call.premises.pool).history(found.programme))
    await _desk(call).close(found, call.actor, reason, correction=_correction(call), currency=programme.money.currency)
    return See(f"/exchange-breaks/{found.break_id}", "It is closed.")


def _correction(call: Call) -> Decimal | None:
    """Raises `WrongForm`."""
    typed = call.form.get("correction")
    try:
        return read_sum(typed) if typed else None
    except Refused as fault:
        raise call.wrong(correction=f"{fault}.") from None


async def _found(call: Call) -> FoundBreak:
    """Raises `PageFault` for what is not there, or not open to the person."""
    id_: UUID = call.request.path_params["id"]
    try:
        found = await BooksDesk(call.reading.pool, call.premises.clock).the_break(id_)
    except Absent:
        found = None
    if found is None or not call.may(Deed.SEE, found.country):
        raise PageFault("not-found", "No such break is open to you.")
    return found


def _desk(call: Call) -> BooksDesk:
    return BooksDesk(call.premises.pool, call.premises.clock)
