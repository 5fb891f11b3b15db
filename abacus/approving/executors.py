"""The executors of approvals: what each kind lets happen. The rooms that do it know nothing of approvals."""

import json
from collections.abc import Iterable, Mapping, Sequence

from abacus.approving.assumptions import assuming
from abacus.approving.closes import signing
from abacus.approving.exchanges import reviewing
from abacus.approving.migrations import migrating
from abacus.approving.regions import entering
from abacus.core.clock import Clock
from abacus.documents.approved_desk import document_approval, proposal_of
from abacus.documents.stated_desk import version_approval
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.desk import tried_campaign
from abacus.engage.campaigns.publications import publications
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.desk import tried_journey
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.engage.journeys.publications import journey_publications
from abacus.engage.notify.kind import CONTACT_POLICIES
from abacus.engage.notify.renderer import rendering
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.offers.publications import offer_publications
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.publications import reward_publications
from abacus.engage.rewards.reward_store import RewardStore
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.publications import exchange_publications
from abacus.intake.partners.award_intake import KeyReused
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.store.large_moves import LargeMoves, Mover
from abacus.ledger.types.limits import Alone, Limits
from abacus.ledger.types.movement import Moved, Movement
from abacus.people.decide.agreement import canonical, check_unchanged
from abacus.people.store.approvals import Approvals, Executor
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.approval import Approval, ApprovalKind, CannotDecide, Proposal, Terms
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, Pool
from abacus.pricing.decide.card import RateCard
from abacus.pricing.kind import CARDS, countries_with_cards
from abacus.pricing.kind import alone as by_nothing_else
from abacus.signals.events.decide.source import Source


def approving(
    pool: Pool,
    clock: Clock,
    move: Mover,
    alone: Alone,
    built_in: Iterable[Source],
    *,
    terms: Terms | None = None,
) -> LargeMoves:
    """The large moves, with the approvals that they and every other kind go through."""

    async def moved(movement: Movement) -> Moved:
        try:
            return await move(movement)
        except KeyReused as error:
            raise CannotDecide("idempotency-key-reused", f"{movement.key} is the key of an award") from error

    executors: dict[ApprovalKind, Executor] = {
        ApprovalKind.RATE_CARD: document_approval(pool, clock, CARDS, by_nothing_else),
        ApprovalKind.CONTACT_POLICY: document_approval(pool, clock, CONTACT_POLICIES, countries_with_cards),
        ApprovalKind.REGIONS: entering(pool, clock),
        ApprovalKind.LIMITS: _limiting(pool, clock),
        ApprovalKind.CAMPAIGN: _running(pool, clock, tuple(built_in)),
        ApprovalKind.OFFER: version_approval(OfferStore(pool), clock, lambda: offer_publications(pool, clock.now())),
        ApprovalKind.REWARD: _rewarding(pool, clock),
        ApprovalKind.EXCHANGE_PROGRAMME: _exchanging(pool, clock),
        ApprovalKind.JOURNEY: _travelling(pool, clock, tuple(built_in)),
        ApprovalKind.JOURNEY_MIGRATION: migrating(pool, clock),
        ApprovalKind.ASSUMPTION: assuming(pool, clock),
        ApprovalKind.MONTH_CLOSE: signing(pool, clock),
        ApprovalKind.EXCHANGE: reviewing(pool, clock),
    }
    return LargeMoves(Approvals(pool, clock, executors, terms), moved, alone)


def card_proposal(card: RateCard, changes: list[str]) -> Proposal:
    return proposal_of(CARDS, ApprovalKind.RATE_CARD, card, changes)


def limits_proposal(partner_id: str, before: Limits, after: Limits) -> Proposal:
    changed = (
        f"{name} from {old if old is not None else 'none'} to {new if new is not None else 'none'}"
        for name, old, new in zip(Limits._fields, before, after, strict=True)
        if old != new
    )
    return Proposal(
        kind=ApprovalKind.LIMITS,
        subject=partner_id,
        country=None,
        summary=f"change the limits of {partner_id}: {', '.join(changed)}",
        document=limits_document(partner_id, after),
    )


def limits_document(partner_id: str, limits: Limits) -> str:
    return canonical({"partner_id": partner_id, "limits": limits._asdict()})


def _limiting(pool: Pool, clock: Clock) -> Executor:
    async def limit(approval: Approval, also: Also) -> None:
        limits = Limits(**json.loads(approval.document)["limits"])
        check_unchanged(approval, limits_document(approval.subject, limits))
        entry = entry_of(
            approval.asked_by,
            Deed.EDIT_LIMITS,
            f"partner:{approval.subject}",
            clock.now(),
            after=limits._asdict(),
            approved_by=approval.decided_by,
        )
        await PartnerStore(pool, clock).limit(approval.subject, limits, also=with_entry(also, entry))

    return limit


def _running(pool: Pool, clock: Clock, sources: Sequence[Source]) -> Executor:
    async def around() -> Publications:
        return await publications(pool, sources, clock.now())

    async def tried(document: Mapping[str, object], published: Publications) -> None:
        async with rendering() as renderer:  # a process for the occasion, which is seldom
            await tried_campaign(document, published, renderer)

    return version_approval(CampaignStore(pool), clock, around, tried)


def _travelling(pool: Pool, clock: Clock, sources: Sequence[Source]) -> Executor:
    async def around() -> JourneyPublications:
        return await journey_publications(pool, sources, clock.now())

    async def tried(document: Mapping[str, object], published: JourneyPublications) -> None:
        async with rendering() as renderer:  # a process for the occasion, which is seldom
            await tried_journey(document, published, renderer)

    return version_approval(JourneyStore(pool), clock, around, tried)


def _rewarding(pool: Pool, clock: Clock) -> Executor:
    async def around() -> RewardPublications:
        return await reward_publications(pool, clock.now())

    return version_approval(RewardStore(pool), clock, around)


def _exchanging(pool: Pool, clock: Clock) -> Executor:
    async def around() -> ExchangePublications:
        return await exchange_publications(pool, clock.now(), to_private=True)  # its address was judged before

    return version_approval(ProgrammeStore(pool), clock, around)
