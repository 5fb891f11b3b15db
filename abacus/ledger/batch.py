"""What posting a batch comes to: which awards are new, which were posted before, which contradict what was posted.

Pure: given the claims and accounts as they are now, it says what to write. `LedgerPort` is what a ledger promises.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from abacus.core.errors import AbacusError, SetAside
from abacus.ledger.award import Award
from abacus.ledger.transfer import Account, AccountId, Transfer, apply


class Claim(NamedTuple):
    """A key that is taken, by whom, and for which facts."""

    key: str
    member_id: str
    program: str
    seq: int
    fingerprint: str


class Status(StrEnum):
    """What became of an award."""

    POSTED = "posted"
    DUPLICATE = "duplicate"  # the same key for the same facts: the first posting stands
    CONFLICT = "conflict"  # the same key for other facts: neither silently wins
    REFUSED = "refused"  # no account can take it


class Outcome(NamedTuple):
    """The fate of one award. `transfer` is there when it was posted now, `claim` when its key was taken before."""

    award: Award
    status: Status
    transfer: Transfer | None = None
    claim: Claim | None = None
    fault: SetAside | None = None


class Unpostable(AbacusError):
    """The store refused a value of one of the awards; it does not say of which."""


class LedgerPort(Protocol):
    """What a ledger promises to those who post."""

    async def post(self, awards: Sequence[Award]) -> list[Outcome]:
        """Post what is new, all or nothing, and say for each award, in order, what became of it.

        Raises `Unavailable` when the ledger cannot be reached and `Unpostable` when it refuses a value; nothing of
        the batch is posted then.
        """
        ...


class Plan(NamedTuple):
    """What to write for a batch, the claims in order of their keys, and what to tell about it."""

    outcomes: list[Outcome]
    transfers: list[Transfer]
    claims: list[Claim]
    accounts: dict[AccountId, Account]


def accounts_touched(awards: Iterable[Award], claimed: Mapping[str, Claim]) -> dict[AccountId, str]:
    """The accounts that awards with free keys go to, in locking order, with the country each would be opened in."""
    touched: dict[AccountId, str] = {}
    for award in awards:
        if award.key not in claimed:
            touched.setdefault((award.member_id, award.program), award.country)
    return dict(sorted(touched.items()))


def plan(
    awards: Sequence[Award],
    claimed: Mapping[str, Claim],
    accounts: Mapping[AccountId, Account],
    posted_at: datetime,
) -> Plan:
    """Decide a batch. `accounts` holds, locked, every account of `accounts_touched`."""
    outcomes: list[Outcome] = []
    transfers: list[Transfer] = []
    changed: dict[AccountId, Account] = {}
    claims: dict[str, Claim] = {}
    for award in awards:
        key = award.key
        earlier = claimed.get(key) or claims.get(key)
        if earlier is not None:
            status = Status.DUPLICATE if earlier.fingerprint == award.fingerprint else Status.CONFLICT
            outcomes.append(Outcome(award, status, claim=earlier))
            continue
        id_ = (award.member_id, award.program)
        try:
            changed[id_], transfer = apply(changed.get(id_) or accounts[id_], award, posted_at)
        except SetAside as fault:
            outcomes.append(Outcome(award, Status.REFUSED, fault=fault))
            continue
        claims[key] = Claim(key, *id_, transfer.seq, award.fingerprint)
        transfers.append(transfer)
        outcomes.append(Outcome(award, Status.POSTED, transfer))
    return Plan(outcomes, transfers, sorted(claims.values()), changed)
