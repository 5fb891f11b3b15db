"""How a large exchange is told to the person who reviews it."""

from typing import Any, Final

from abacus.console.decide.named import Named
from abacus.console.decide.told import Told
from abacus.console.pages.approvals.telling import Telling
from abacus.console.web.calls import Call
from abacus.people.types.approval import Approval, ApprovalKind

_WHY: Final = (
    "The points are held, and nothing is sent to the partner before another person has looked at it. What the partner"
    " has credited is hard to undo."
)


def _title(_: Approval, document: Any) -> str:
    return f"Exchange of {document['points']:,} points of {document['member_id']}"


async def _told(_: Call, __: Approval, document: Any) -> Told:
    return Told(
        why=_WHY,
        facts=[
            ("Points", f"{document['points']:,}"),
            *([("Fee", f"{document['fee']:,}")] if document["fee"] else []),
            ("The partner credits", f"{document['theirs']:,}"),
            ("Partner", document["partner"]),
            ("Exchange", document["exchange_id"]),
        ],
        about=[Named("member", document["member_id"]), Named("programme", document["programme"])],
    )


EXCHANGE: Final = Telling(kind=ApprovalKind.EXCHANGE, noun="Exchange", title=_title, told=_told)
