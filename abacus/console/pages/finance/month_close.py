"""The page of a month: the steps of its close in their order, what each found, and the buttons that do them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import ClassVar, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from abacus.console.decide import month_steps as steps
from abacus.console.decide.charts import Chart
from abacus.console.decide.checklist import Item, checklist
from abacus.console.decide.month_orders import CHECK, RECONCILE, SIGN
from abacus.console.decide.month_steps import Ended, Published, Sealed, Step, Task
from abacus.console.decide.reports import MONTHS, charts_of
from abacus.console.pages.finance.trust import LEDGER, SEAL
from abacus.console.pages.operations.errands import Done, newest
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page
from abacus.core.errors import Refused
from abacus.oversight.closing.decide.record import Signed, closed_months
from abacus.oversight.closing.kind import JOURNAL_ACCOUNTS, AccountsDesk
from abacus.oversight.closing.store import MonthCloses
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import AssumptionBook
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, ApprovalKind
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardReader
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.runs import ExpiryRuns
from abacus.programs.expiry.sweep import of_all_due
from abacus.proof.store import Seals

EXPIRY: Final = "expiry"
DUE: Final = "what is due"


@dataclass(frozen=True, kw_only=True)
class ClosePage(Page):
    """A month. `tasks` are the newest ones of its steps, by the step's name; `next` is the first step that somebody can
    do now; `approval` waits for another person's signature. `charts` belong to the last report of `months`, and
    `also` has the commands that print its figures.
    """

    template: ClassVar[str] = "month_close.html"
    month: Month
    over_at: datetime
    is_over: bool
    steps: Sequence[Step]
    next: str | None
    tasks: Mapping[str, Done]
    items: Sequence[Item]
    record: Sequence[Signed]
    is_closed: bool
    approval: UUID | None
    may_sign: bool
    may_close: bool
    may_expire: bool
    may_seal: bool
    months: Done | None
    charts: Sequence[Chart]
    also: Sequence[tuple[str, str]]


async def close(call: Call) -> ClosePage:
    month = month_of(call)
    _, over_at = window_of(call, month)
    every = await MonthCloses(call.premises.pool).all()
    record = [each for each in every if each.month == month]
    is_closed = month in closed_months(every)
    tasks = await _tasks(call, month)
    approval = await _approval(call, month)
    shown = await _steps(call, month, tasks, record, approval)
    first = None if is_closed else steps.next_of(shown)
    check = tasks.get("review")
    document = check.document if check is not None else None
    months = await newest(call, MONTHS.task, str(month))
    return ClosePage(
        title=f"Month {month}",
        month=month,
        over_at=over_at,
        is_over=call.now >= over_at,
        steps=steps.of_closed(shown) if is_closed else shown,
        next=first.name if first is not None else None,
        tasks=tasks,
        items=checklist(document, str(month)),
        record=record,
        is_closed=is_closed,
        approval=approval.approval_id if approval is not None and approval.status == "pending" else None,
        may_sign=not is_closed and document is not None and document["may_be_signed"],
        may_close=call.may(Deed.CLOSE_BOOKS, None),
        may_expire=call.may(Deed.EXPIRE, None),
        may_seal=call.may(Deed.SEAL, None),
        months=months,
        charts=charts_of(MONTHS, months.document["rows"]) if months is not None and months.document else (),
        also=MONTHS.commands(str(month)),
    )


def month_of(call: Call) -> Month:
    try:
        return Month.parse(call.request.path_params["month"])
    except Refused:
        raise PageFault("not-found", "There is no such month.") from None


def window_of(call: Call, month: Month) -> tuple[datetime, datetime]:
    """From where the month begins first to where it ends last. Raises `Unavailable` before the cards are known."""
    book = call.rooms[CardReader].book()
    zones = [each.card.zone for scope in book.scopes() for each in book.versions(scope)] or [ZoneInfo("UTC")]
    begins = [datetime.combine(month.first_day, time(), zone).astimezone(UTC) for zone in zones]
    ends = [datetime.combine(month.last_day + timedelta(days=1), time(), zone).astimezone(UTC) for zone in zones]
    return min(begins), max(ends)


async def _tasks(call: Call, month: Month) -> dict[str, Done]:
    kinds = {
        "expiry": (EXPIRY, DUE),
        "seal": (SEAL, LEDGER),
        "messages": (RECONCILE, str(month)),
        "review": (CHECK, str(month)),
        "signature": (SIGN, str(month)),
    }
    found = {name: await newest(call, kind, subject) for name, (kind, subject) in kinds.items()}
    return {name: done for name, done in found.items() if done is not None}


async def _approval(call: Call, month: Month) -> Approval | None:
    """The newest one of the month."""
    every = await call.rooms[Approvals].all(kinds=[ApprovalKind.MONTH_CLOSE])
    return next((each for each in every if each.subject == str(month)), None)


async def _steps(
    call: Call,
    month: Month,
    tasks: Mapping[str, Done],
    record: Sequence[Signed],
    approval: Approval | None,
) -> list[Step]:
    pool, now, (begin, over_at) = call.premises.pool, call.now, window_of(call, month)
    done = {name: Task(each.errand, each.document) for name, each in tasks.items()}
    published = [
        Published(JOURNAL_ACCOUNTS.name(each.document), each.published_by, each.published_at)
        for each in await call.rooms[AccountsDesk].records()
    ]
    ends, due = await _ends(call, month)
    seals = await Seals(pool, call.premises.clock).newest(before=None, limit=1)
    sealed = [Sealed(each.number, each.sealed_at, each.accounts, each.transfers) for each in seals]
    command = f"abacus reconcile --from {begin.isoformat()} --to {over_at.isoformat()}"
    review, others = done.get("review"), [done.get(name) for name in ("expiry", "seal", "messages")]
    return [
        steps.accounts_step(published),
        steps.cost_step(month, AssumptionBook(await AssumptionStore(pool).all()), review),
        steps.expiry_step(month, ends, due, done.get("expiry")),
        steps.seal_step(sealed[0] if sealed else None, done.get("seal"), over_at=over_at, now=now),
        steps.messages_step(done.get("messages"), command, is_over=now >= over_at),
        steps.review_step(month, review, others, has_accounts=bool(published)),
        steps.signature_step(month, record, approval, review, done.get("signature")),
        steps.files_step(record, tasks["signature"].files if "signature" in tasks else ()),
    ]


async def _ends(call: Call, month: Month) -> tuple[list[Ended], list[tuple[str, Month]]]:
    """The ends of months before this one, and which of them are due."""
    runs = ExpiryRuns(call.premises.pool)
    book = call.rooms[CardReader].book()
    due = [(each.country, each.month) for each in await of_all_due(runs, book, None, call.now) if each.month < month]
    ends = [
        Ended(
            country=each.country,
            month=Month.parse(each.month),
            expired=each.expired,
            skipped=each.skipped,
            points=each.points,
            left=each.left,
            finished_at=each.finished_at,
        )
        for each in await runs.all()
    ]
    return [each for each in ends if each.month < month], due
