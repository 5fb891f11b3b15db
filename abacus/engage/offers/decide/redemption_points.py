"""The points of a redemption, and how they are taken back: each as an action for the award queue. Pure."""

from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.ids import fingerprint, redemption_key, rollback_key
from abacus.core.points import plain
from abacus.core.sources import offer_source
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import AWARDS, PlannedAction
from abacus.engage.offers.decide.offer import OWNER_KIND, BenefitKind, Offer
from abacus.engage.offers.decide.reservation import Redemption
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Reversal
from abacus.ledger.types.reversal_message import encode_reversal
from abacus.pricing.decide.card import Expiry, PublishedCard
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Offered
from abacus.programs.expiry.decide.month import last_good_day

_GIVEN, _TAKEN_BACK = 0, 1  # numbers of actions of a redemption
_AWARD: Final = (DeedKind.AWARD, AWARDS)


class Redeemed(NamedTuple):
    """An offer is redeemed for a member, under a card."""

    offer: Offer
    card: PublishedCard
    redemption_id: UUID
    member_id: str
    at: datetime


def points_given(redeemed: Redeemed, points: int, earned: int) -> PlannedAction:
    """The points that the offer gives for a purchase that `earned` so many by itself."""
    offer, card, redemption_id, member_id, at = redeemed
    benefit, of = offer.benefit, card.card
    is_multiple = benefit.kind is BenefitKind.POINTS_TIMES
    explanation = Offered(
        offer=offer.label,
        redemption=str(redemption_id),
        benefit="points_times" if is_multiple else "points_plus",
        figure=plain(benefit.figure),
        cap=None if benefit.cap is None else plain(benefit.cap),
        earned=earned if is_multiple else None,
        card=card.name,
        points=points,
    )
    key = redemption_key(redemption_id)
    award = Award(
        key=key,
        member_id=member_id,
        program=of.program,
        country=offer.country,
        kind=TransferKind.EARN,
        points=points,
        occurred_at=at,
        expires_on=last_good_day(at, of.zone, of.expiry_months),
        activity=False,  # a gift is not a transaction: it does not keep other points alive
        fingerprint=fingerprint((key, member_id)),
        explanation=text_of(explanation),
        source=offer_source(offer.name),
        lifetime=of.expiry is Expiry.LIFETIME,
    )
    return PlannedAction(
        member_id, key, _GIVEN, OWNER_KIND, offer.name, offer.version, 0, None, *_AWARD, at, encode_award(award), None
    )


def points_taken_back(redemption: Redemption, card: PublishedCard, at: datetime, due_at: datetime) -> PlannedAction:
    """All that is left of them, by the policy of the card in force, as a refund's points are."""
    of, key = card.card, redemption_key(redemption.redemption_id)
    reversal = Reversal(
        key=rollback_key(key),
        member_id=redemption.member_id,
        program=of.program,
        country=redemption.country,
        fingerprint=fingerprint((rollback_key(key), redemption.member_id)),
        reverses=key,
        part=None,
        on_shortfall=of.on_shortfall,
        card=card.name,
        reason=None,
        actor=None,
        source=offer_source(redemption.offer),
        occurred_at=at,
        expires_on=last_good_day(at, of.zone, of.expiry_months),
        lifetime=of.expiry is Expiry.LIFETIME,
    )
    member_id, offer, version = redemption.member_id, redemption.offer, redemption.version
    document = encode_reversal(reversal)
    return PlannedAction(
        member_id, key, _TAKEN_BACK, OWNER_KIND, offer, version, 0, None, *_AWARD, due_at, document, None
    )
