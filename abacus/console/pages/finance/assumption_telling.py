"""How the approval of an assumption is told: as the form says it, and what it changes against the version before."""

from typing import Any, Final

from abacus.approving.assumptions import assumed, displaced
from abacus.console.decide.told import Told, changes_of
from abacus.console.pages.approvals.telling import Telling
from abacus.console.web.calls import Call
from abacus.documents.form.sentences import sentences
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import AssumptionBook
from abacus.oversight.reports.decide.assumption_form import ASSUMPTION_FORM
from abacus.people.types.approval import Approval, ApprovalKind

_WHY: Final = "What a point is expected to cost is in the books of every month, so two people answer for it."


def _title(_: Approval, document: Any) -> str:
    return f"Assumptions for {document['program']}, {document['country']}, from {document['effective_from']}"


async def _told(call: Call, approval: Approval, _: Any) -> Told:
    wanted = assumed(approval)
    book = AssumptionBook(
        each
        for each in await AssumptionStore(call.reading.pool).all()
        if approval.decided_at is None or each.set_at < approval.decided_at
    )
    against, before = displaced(wanted, book) or (None, None)
    return Told(
        why=_WHY,
        sentences=sentences(ASSUMPTION_FORM, wanted.told),
        changes=changes_of(ASSUMPTION_FORM, before, wanted.told),
        against=against,
    )


ASSUMPTION: Final = Telling(kind=ApprovalKind.ASSUMPTION, noun="Assumptions", title=_title, told=_told)
