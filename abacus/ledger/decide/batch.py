"""Posting a batch: which awards are new, which are duplicates, which contradict an earlier posting.

Pure: from the claims and accounts as they are now to the rows to write. `LedgerPort` has a ledger's promises.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from abacus.core.errors import Reason, SetAside
from abacus.core.sources import partner_of
from abacus.ledger.decide.allowance import NOBODY, BatchSpending, LimitUse, rejected
from abacus.ledger.decide.duplicates import Gate
from abacus.ledger.decide.newcomers import NOBODY_REFUSED, check_newcomer
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Rejection, RejectionReason
from abacus.ledger.types.port import AwardOutcome, Claim, Status
from abacus.ledger.types.transfer import Transfer


class PostingPlan(NamedTuple):
    """The rows to write for a batch, the claims in order of their keys, and the outcomes to tell."""

    outcomes: list[AwardOutcome]
    transfers: list[Transfer]
    claims: list[Claim]
    accounts: dict[AccountId, Account]
    rejections: list[Rejection]
    spending: BatchSpending


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
    standing: LimitUse = NOBODY,
    *,
    refused: Container[str] = NOBODY_REFUSED,
) -> PostingPlan:
    """Decide a batch. `accounts` holds, locked, every account of `accounts_touched`, and `standing` the limits of the
    partners in the batch; `refused` are members without an account whose ids no new member may have.
    """
    spending = BatchSpending(standing, posted_at)
    any_partners = standing is not NOBODY
    claims, rejections = Gate(claimed), Gate(standing.rejections)
    outcomes: list[AwardOutcome] = []
    transfers: list[Transfer] = []
    changed: dict[AccountId, Account] = {}
    for award in awards:
        key = award.key
        earlier = claims.earlier(key, award.fingerprint)
        if earlier is not None:
            outcomes.append(AwardOutcome(award, earlier.status, claim=earlier.first))
            continue
        partner_id = partner_of(award.source) if any_partners else None
        if partner_id is not None:
            if partner_id not in standing.allowances:
                fault = SetAside(Reason.UNKNOWN_SOURCE, f"no partner is called {partner_id!r}")
                outcomes.append(AwardOutcome(award, Status.REFUSED, fault=fault))
                continue
            before = rejections.earlier(key, award.fingerprint)
            if before is not None:
                status = Status.REJECTED if before.same_facts else Status.CONFLICT
                outcomes.append(AwardOutcome(award, status, rejection=before.first))
                continue
            rejection = _awarded_before(award, claims, posted_at) or spending.check(partner_id, award)
            if rejection is not None:
                rejections.enter(key, rejection)
                outcomes.append(AwardOutcome(award, Status.REJECTED, rejection=rejection))
                continue
        id_ = (award.member_id, award.program)
        try:
            check_newcomer(award.member_id, refused)
            changed[id_], transfer = apply(changed.get(id_) or accounts[id_], award, posted_at)
        except SetAside as fault:
            outcomes.append(AwardOutcome(award, Status.REFUSED, fault=fault))
            continue
        if partner_id is not None:
            spending.count(partner_id, award.member_id, award.points)
            if award.transaction is not None:
                also, facts = award.transaction
                claims.enter(also, Claim(also, *id_, transfer.seq, facts))
        claims.enter(key, Claim(key, *id_, transfer.seq, award.fingerprint))
        transfers.append(transfer)
        outcomes.append(AwardOutcome(award, Status.POSTED, transfer))
    new_claims, new_rejections = sorted(claims.entered.values()), list(rejections.entered.values())
    return PostingPlan(outcomes, transfers, new_claims, changed, new_rejections, spending)


def keys_of(awards: Iterable[Award], of_partners: Iterable[Award]) -> set[str]:
    """The keys that these awards would claim: their own, and their partners' transactions'."""
    keys = {award.key for award in awards}
    return keys | {award.transaction.key for award in of_partners if award.transaction is not None}


def _awarded_before(award: Award, claims: Gate[Claim], now: datetime) -> Rejection | None:
    """The rejection of an award whose transaction has its award, by whomever it was requested."""
    if award.transaction is None or claims.first(award.transaction.key) is None:
        return None
    detail = f"the transaction {award.transaction.key} was awarded before"
    return rejected(award, RejectionReason.ALREADY_AWARDED, detail, now)
