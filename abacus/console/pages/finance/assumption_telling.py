"""How the approval of an assumption is told: each of its values before and after."""

from decimal import Decimal
from typing import Any, Final

from abacus.approving.assumptions import assumed
from abacus.console.decide.told import Told, changed
from abacus.console.pages.approvals.telling import Telling
from abacus.console.web.calls import Call
from abacus.core.points import plain
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import AssumptionBook, Estimate, percent
from abacus.people.types.approval import Approval, ApprovalKind

_WHY: Final = "What a point is expected to cost is in the books of every month, so two people answer for it."
_PRICES: Final = (
    ("Cost of a point", "cost_per_point"),
    ("Price of a point when sold", "selling_price"),
    ("Part of a sale's price for a point", "allocated_per_point"),
)


def _title(_: Approval, document: Any) -> str:
    return f"Assumptions for {document['program']}, {document['country']}, from {document['effective_from']}"


async def _told(call: Call, approval: Approval, _: Any) -> Told:
    wanted = assumed(approval)
    book = AssumptionBook(
        each
        for each in await AssumptionStore(call.reading.pool).all()
        if approval.decided_at is None or each.set_at < approval.decided_at
    )
    before = book.in_force((wanted.program, wanted.country), wanted.effective_from)
    after, was = wanted.estimate, before.estimate if before is not None else None
    return Told(
        why=_WHY,
        facts=[("Reason", wanted.reason), ("In force from", wanted.effective_from.isoformat())],
        changes=[
            changed(
                "Points that will be used", percent(was.expected_use) if was else None, percent(after.expected_use)
            ),
            *(changed(words, _price(was, field), _price(after, field)) for words, field in _PRICES),
        ],
        against=f"version {before.version}" if before is not None else "no assumption",
    )


def _price(estimate: Estimate | None, field: str) -> str | None:
    price: Decimal | None = getattr(estimate, field) if estimate is not None else None
    return None if estimate is None or price is None else f"{plain(price)} {estimate.currency}"


ASSUMPTION: Final = Telling(kind=ApprovalKind.ASSUMPTION, noun="Assumptions", title=_title, told=_told)
