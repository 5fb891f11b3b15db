"""The balance that a member brings from another system, put into the account. Pure."""

from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.core.errors import Reason, SetAside
from abacus.core.ids import fingerprint, opening_key
from abacus.core.sources import IMPORT
from abacus.ledger.decide.account_with_lots import AccountWithLots, Entry, put
from abacus.ledger.types.account import MAX_BALANCE, Account
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Imported

REASON: Final = "opening balance"


class OpeningBalance(NamedTuple):
    """A member's balance elsewhere. `expires_on` is the last day on which the points are good; no points need none. An
    account that is empty goes by lots from then on if `lifetime` says so, as the country's card does.
    """

    member_id: str
    program: str
    country: str
    points: int
    expires_on: date | None
    lifetime: bool = False


class Origin(NamedTuple):
    """Where opening balances come from, and who brings them in."""

    source: str
    by: str

    def key(self, opening: OpeningBalance) -> str:
        return opening_key(self.source, opening.member_id, opening.program)


def facts_of(opening: OpeningBalance) -> str:
    """The fingerprint: the same member's balance with other facts is a contradiction, not a second balance."""
    return fingerprint((str(opening.points), opening.country, str(opening.expires_on or "")))


def open_with(account: Account, opening: OpeningBalance, origin: Origin, now: datetime) -> tuple[Account, Transfer]:
    """The account with the balance that its member brought, and the transfer that brought it.

    Like a gift, it sets the expiry date only where there is none to go by. Raises `SetAside` where no account can hold
    more.
    """
    if account.balance + opening.points > MAX_BALANCE:
        raise SetAside(Reason.OUT_OF_RANGE, f"{opening.points} points would take the balance past {MAX_BALANCE}")
    explanation = Imported(points=opening.points, reason=REASON, by=origin.by, imported_from=origin.source)
    actor = f"import:{origin.source}"
    entry = Entry(TransferKind.ADJUST, origin.key(opening), text_of(explanation), now, now, IMPORT, actor=actor)
    change = put(AccountWithLots(account), opening.points, opening.expires_on, entry, lifetime=opening.lifetime)
    return change.after.account, change.transfer
