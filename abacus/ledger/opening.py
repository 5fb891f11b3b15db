"""The balance that a member brings from another system, and what it does to the account. Pure."""

from datetime import date, datetime
from typing import Final, NamedTuple

import orjson

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import fingerprint, opening_key
from abacus.ledger.award import Kind
from abacus.ledger.transfer import MAX_BALANCE, Account, Transfer, chain, expiry_after

REASON: Final = "opening balance"


class Opening(NamedTuple):
    """What a member had elsewhere. `expires_on` is the last day on which the points are good; no points need none."""

    member_id: str
    program: str
    country: str
    points: int
    expires_on: date | None


class Origin(NamedTuple):
    """Where opening balances come from, and who brings them in."""

    source: str
    by: str

    def key(self, opening: Opening) -> str:
        return opening_key(self.source, opening.member_id, opening.program)


def facts_of(opening: Opening) -> str:
    """The fingerprint: the same member's balance with other facts is a contradiction, not a second balance."""
    return fingerprint((str(opening.points), opening.country, str(opening.expires_on or "")))


def open_with(account: Account, opening: Opening, origin: Origin, now: datetime) -> tuple[Account, Transfer]:
    """The account with what its member brought, and the transfer that brought it.

    As a gift does, it sets the expiry date only where there is none. Raises `SetAside` where no account can hold more.
    """
    balance = account.balance + opening.points
    if balance > MAX_BALANCE:
        raise SetAside(Reason.OUT_OF_RANGE, f"{opening.points} points would take the balance past {MAX_BALANCE}")
    expires_on = account.expires_on
    if opening.points and opening.expires_on is not None:
        expires_on = expiry_after(expires_on, opening.expires_on, activity=False)
    explanation = {"points": opening.points, "reason": REASON, "by": origin.by, "import": origin.source}
    seq = account.last_seq + 1
    body = (
        account.member_id,
        account.program,
        seq,
        Kind.ADJUST,
        opening.points,
        balance,
        origin.key(opening),
        opening.country,
        now,
        now,
        expires_on,
        orjson.dumps(explanation),
        None,
        f"import:{origin.source}",
    )
    head = chain(account.head_hash, body)
    after = account._replace(balance=balance, expires_on=expires_on, last_seq=seq, head_hash=head)
    return after, Transfer(*body, head)
