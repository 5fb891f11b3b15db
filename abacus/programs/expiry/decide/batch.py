"""Deciding an envelope of the expiry queue: which accounts lapse, and the rows to write for them. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from abacus.core.ids import expiry_claim, fingerprint
from abacus.ledger.decide.account_with_lots import AccountWithLots
from abacus.ledger.decide.duplicates import Gate
from abacus.ledger.decide.lapse import lapse
from abacus.ledger.decide.lots import Draw
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.port import Claim
from abacus.ledger.types.transfer import Transfer
from abacus.programs.expiry.decide.envelope import Envelope


class Lapsed(NamedTuple):
    """The accounts that lapsed, with their claims, transfers and draws, sorted as they are to be written."""

    accounts: dict[AccountId, Account]
    claims: list[Claim]
    transfers: list[Transfer]
    draws: list[Draw]

    @property
    def points(self) -> int:
        return sum(self.points_by_program().values())

    def points_by_program(self) -> Counter[str]:
        lapsed: Counter[str] = Counter()
        for transfer in self.transfers:
            lapsed[transfer.program] -= transfer.points
        return lapsed


def claim_of(envelope: Envelope, id_: AccountId) -> str:
    """The key under which the account can lapse once with this month's end."""
    return expiry_claim(str(envelope.month), *id_)


def lapse_all(
    accounts: Iterable[AccountWithLots], claimed: Mapping[str, Claim], envelope: Envelope, now: datetime
) -> Lapsed:
    """Decide an envelope. `accounts` are its accounts that exist, locked; `claimed` has its keys that are taken."""
    lapsed = Lapsed({}, [], [], [])
    gate = Gate(claimed)
    end, month = envelope.end, str(envelope.month)
    for account in accounts:
        id_ = account.account.id
        key = expiry_claim(month, *id_)
        facts = fingerprint((month, *id_))
        change = None if gate.earlier(key, facts) else lapse(account, end, now)
        if change is None:
            continue
        lapsed.accounts[id_] = change.after.account
        lapsed.claims.append(Claim(key, *id_, change.transfer.seq, facts))
        lapsed.transfers.append(change.transfer)
        lapsed.draws.extend(change.draws)
    lapsed.claims.sort()
    return lapsed
