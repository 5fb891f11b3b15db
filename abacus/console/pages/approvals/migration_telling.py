"""How the approval of moving the members of a journey to another version is told."""

from typing import Any, Final

from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changed
from abacus.console.pages.approvals.telling import Telling
from abacus.console.web.calls import Call
from abacus.people.types.approval import Approval, ApprovalKind

_WHY: Final = (
    "Members who are inside go on by another version than the one by which they entered, so another person looks at"
    " where each of them lands."
)


def _title(approval: Approval, document: Any) -> str:
    return f"Members of {approval.subject}, from version {document['from']} to {document['to']}"


async def _told(_: Call, approval: Approval, document: Any) -> Told:
    return Told(
        why=_WHY,
        facts=[("What happens", approval.summary)],
        changes=[changed(name, name, there) for name, there in document["nodes"].items()],
        against=f"{approval.subject}@{document['from']}",
        about=[Named("journey", f"{approval.subject}@{document['to']}")],
    )


JOURNEY_MIGRATION: Final = Telling(
    kind=ApprovalKind.JOURNEY_MIGRATION, noun="Members of a journey", title=_title, told=_told
)
