"""The close of a month that another person signs: by the hashes of its files, as they were made."""

import json

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.points import plain
from abacus.oversight.closing.books import MonthBooks
from abacus.oversight.closing.decide.record import Act, Signed
from abacus.oversight.closing.store import MonthCloses
from abacus.people.decide.agreement import canonical, check_unchanged
from abacus.people.store.approvals import Executor
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.approval import Approval, ApprovalKind, CannotExecute, Proposal
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, Pool
from abacus.programs.expiry.decide.month import Month


def close_proposal(books: MonthBooks, reason: str) -> Proposal:
    """What the record is to have, and the sums that it stands for."""
    content = {
        "month": str(books.month),
        "reason": reason,
        "files": books.hashes,
        "accepted": [str(each) for each in books.obstacles],
        "seal": books.seal.number if books.seal else None,
        "seal_hash": books.seal.hash.hex() if books.seal else None,
        "movements": books.movements.documents(),
        "journal": [
            {**each._asdict(), "debit": plain(each.debit), "credit": plain(each.credit)} for each in books.journal
        ],
    }
    return Proposal(
        kind=ApprovalKind.MONTH_CLOSE,
        subject=str(books.month),
        country=None,
        summary=f"close {books.month}, with {', '.join(books.hashes)}",
        document=canonical(content),
    )


def signing(pool: Pool, clock: Clock) -> Executor:
    """Signs what was approved, in the name of the person who approved it."""

    async def sign(approval: Approval, also: Also) -> None:
        content = json.loads(approval.document)
        check_unchanged(approval, canonical(content))
        month, now = Month.parse(content["month"]), clock.now()
        signed = Signed(
            month=month,
            number=0,
            act=Act.CLOSED,
            signed_by=str(approval.decided_by),
            signed_at=now,
            **{name: content[name] for name in ("reason", "files", "accepted", "seal", "seal_hash")},
        )
        entry = entry_of(
            approval.asked_by,
            Deed.CLOSE_BOOKS,
            f"month:{month}",
            now,
            reason=signed.reason,
            accepted=list(signed.accepted),
            approved_by=approval.decided_by,
        )
        try:
            await MonthCloses(pool).sign(signed, with_entry(also, entry))
        except Refused as fault:
            raise CannotExecute(str(fault)) from None

    return sign
