"""How the approval of an edition of regions is told: how many of them it adds, changes and removes, and which."""

from typing import Any, Final

from abacus.console.decide.told import Told
from abacus.console.pages.approvals.telling import Telling
from abacus.console.web.calls import Call
from abacus.people.types.approval import Approval, ApprovalKind

_WHY: Final = "A load that changes many regions of a country changes what is offered to many members."
_WHAT: Final = {"added": "Added", "changed": "Changed", "removed": "Removed"}


def _title(_: Approval, document: Any) -> str:
    return f"Regions of {document['country']}, edition {document['number']}"


async def _told(_: Call, approval: Approval, document: Any) -> Told:
    return Told(
        why=_WHY,
        facts=[
            ("What happens", approval.summary),
            *((word, _ids(document["changes"][what])) for what, word in _WHAT.items()),
        ],
    )


def _ids(changes: Any) -> str:
    count, ids = changes["count"], changes["ids"]
    return ", ".join([*ids, *([f"and {count - len(ids):,} more"] if count > len(ids) else [])]) or "none"


REGIONS: Final = Telling(kind=ApprovalKind.REGIONS, noun="Regions", title=_title, told=_told)
