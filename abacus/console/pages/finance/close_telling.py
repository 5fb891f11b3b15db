"""How the close of a month is told to the person who signs it: the points before and after, the journal, the files."""

from typing import Any, Final

from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changed
from abacus.console.pages.approvals.telling import Telling
from abacus.console.web.calls import Call
from abacus.people.types.approval import Approval, ApprovalKind

_WHY: Final = "This house has each month's books signed by a person who did not prepare them."


def _title(_: Approval, document: Any) -> str:
    return f"Close of {document['month']}"


async def _told(_: Call, __: Approval, document: Any) -> Told:
    journal = [
        (
            f"Journal in {each['currency']}",
            f"{each['entries']:,} entries, debit {each['debit']}, credit {each['credit']}",
        )
        for each in document["journal"]
    ]
    return Told(
        why=_WHY,
        facts=[
            *journal,
            ("Seal", str(document["seal"])),
            *(("Accepted", each) for each in document["accepted"]),
            *([("Reason", document["reason"])] if document["reason"] else []),
            *((name, digest) for name, digest in document["files"].items()),
        ],
        changes=[
            changed(f"{each['program']} in {each['country']}", each["opening"], each["closing"])
            for each in document["movements"]
        ],
        against=f"the beginning of {document['month']}",
        about=[Named("month", document["month"])],
    )


MONTH_CLOSE: Final = Telling(kind=ApprovalKind.MONTH_CLOSE, noun="Close of a month", title=_title, told=_told)
