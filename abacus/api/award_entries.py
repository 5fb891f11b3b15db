"""From the body of a request to an award on the queue: tiers, limits, entry."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Access
from abacus.core.errors import Unavailable
from abacus.core.ids import award_id, partner_key
from abacus.core.members import fault_of_new_member
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.partners.award_intake import Accepted, AlreadyAwarded, AwardIntake, KeyInFlight, KeyReused
from abacus.intake.partners.calculations import Calculations
from abacus.intake.partners.decide.ask import ComputedAsk, Considered, FixedAsk, Objection, consider, entry_for
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.decide.partner import Partner
from abacus.intake.partners.decide.quote import ComputedQuote, Quote, consider_quote, quote_for
from abacus.intake.partners.members import MemberReader
from abacus.intake.partners.metrics import PARTNER_AWARDS
from abacus.intake.partners.register import Register
from abacus.ledger.decide.allowance import OverLimit
from abacus.ledger.types.account import AccountId
from abacus.ledger.types.limits import RejectionReason
from abacus.pricing.decide.card import BASE_TIER
from abacus.programs.tiers.store import MembershipStore
from abacus.programs.tiers.tier_reader import TierReader

_TIERS_WITHIN_S: Final = 2.0


async def entry_of(ask: FixedAsk | ComputedAsk, partner: Partner, access: Access, idempotency_key: str) -> Entry:
    """The entry for a request. Raises `Objection`, and `Unavailable` when the card for it cannot be read."""
    now = access.clock.now()
    await check_newcomer(ask.member_id, access)

    async def decide(calculator: Calculator) -> Entry:
        considered = consider(ask, partner, calculator, now)
        tier = (await tiers_of([considered], access))[0]
        return entry_for(considered, calculator, tier, idempotency_key, now)

    return await access.rooms[Calculations].by_cards(decide)


def check_id(member_id: str) -> None:
    """Raises `Objection` for an id that no new member may have."""
    fault = fault_of_new_member(member_id)
    if fault is not None:
        raise Objection("invalid", fault, "/member_id")


async def check_newcomer(member_id: str, access: Access) -> None:
    """The same, unless it is a member's already. The ledger refuses such an award, too, but nobody is told at once."""
    try:
        check_id(member_id)
    except Objection:
        if not await access.rooms[MemberReader].holdings(member_id):
            raise


async def quote_of(ask: FixedAsk | ComputedQuote, partner: Partner, access: Access) -> Quote:
    """The award that the request would become.

    Raises `Objection`, and `Unavailable` when the card or the tier for it cannot be read.
    """
    now = access.clock.now()
    await check_newcomer(ask.member_id, access)

    async def decide(calculator: Calculator) -> Quote:
        considered = consider_quote(ask, partner, calculator, now)
        tier = (await tiers_of([considered], access))[0]
        if tier is None:
            raise Unavailable("tiers", "the member's tier cannot be read now")
        return quote_for(considered, calculator, tier, now)

    return await access.rooms[Calculations].by_cards(decide)


async def tiers_of(considered: Sequence[Considered], access: Access) -> Sequence[str | None]:
    """The tier of each member, read together for all computed transactions; None for each that cannot be read now."""
    accounts = [(each.member_id, each.card.card.program) for each in considered]
    computed = {account for each, account in zip(considered, accounts, strict=True) if each.transaction is not None}
    if not computed:
        return [BASE_TIER] * len(accounts)
    try:
        async with asyncio.timeout(_TIERS_WITHIN_S):
            listed = await _listed(computed, access)
    except (Unavailable, TimeoutError):
        return [None] * len(accounts)
    return [listed.get(account) if account in computed else BASE_TIER for account in accounts]


async def _listed(accounts: Collection[AccountId], access: Access) -> Mapping[AccountId, str]:
    """Their tiers: that of one is read with what others ask for meanwhile. Raises `Unavailable`."""
    if len(accounts) > 1:
        return await access.rooms[MembershipStore].tiers_in_reach(accounts)
    (account,) = accounts
    return {account: await access.rooms[TierReader].tier(account)}


async def enter(entry: Entry, access: Access) -> Accepted:
    """Enters the award and counts the outcome. Raises `ApiProblem` or `Unavailable`."""
    label = access.label(entry.partner_id)
    try:
        await _check_limits(entry, access)
        accepted = await access.rooms[AwardIntake].enter(entry)
    except (KeyInFlight, KeyReused, AlreadyAwarded, OverLimit) as error:
        PARTNER_AWARDS.labels(label, "refused").inc()
        raise _refusal(error, entry) from None
    PARTNER_AWARDS.labels(label, "replayed" if accepted.replayed else "accepted").inc()
    return accepted


def _refusal(error: KeyInFlight | KeyReused | AlreadyAwarded | OverLimit, entry: Entry) -> ApiProblem:
    match error:
        case KeyInFlight():
            return ApiProblem("key-in-flight", headers={"Retry-After": "1"})
        case KeyReused():
            return ApiProblem("idempotency-key-reused", error.detail)
        case AlreadyAwarded():
            is_its_own = error.awarded_as.startswith(partner_key(entry.partner_id, ""))
            extra = {"award_id": str(award_id(error.awarded_as))} if is_its_own else {}
            detail = f"the transaction {error.transaction} was awarded before"
            return ApiProblem(str(RejectionReason.ALREADY_AWARDED), detail, extra=extra)
        case OverLimit():
            return ApiProblem(str(error.reason), error.detail)


async def _check_limits(entry: Entry, access: Access) -> None:
    """Refuses early an award that the posting would reject, as far as is known here; but not an award that was accepted
    before.

    Raises `OverLimit`.
    """
    today = access.clock.now().date()
    try:
        access.directory.allowance(entry.partner_id).on(today).check(entry.award.points, 0)
    except OverLimit:
        try:
            known = await access.rooms[Register].states([entry.award_id])
        except Unavailable:
            known = {}
        if entry.award_id not in known:
            raise
