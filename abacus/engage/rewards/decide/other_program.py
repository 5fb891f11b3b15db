"""Points of another program than a reward is paid with: by which card they are given, and the award. Pure."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Final

from abacus.core.errors import SetAside, Unavailable
from abacus.core.ids import fingerprint, redemption_key
from abacus.core.sources import reward_source
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import AWARDS, PlannedAction
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.decide.reward import OWNER_KIND
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Reversal
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import Expiry, PublishedCard
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Rewarded
from abacus.programs.expiry.decide.month import last_good_day

_AWARD: Final = 0  # the number of the action; fulfillers' are others


def programs_of(book: CardBook, now: datetime) -> set[str]:
    """The programs whose points can be given now."""
    return {each.card.program for each in _in_force(book, now)}


def card_of(book: CardBook, program: str, now: datetime) -> PublishedCard | None:
    """The card by which points of a program are given: of several scopes, the first by name."""
    return next((each for each in _in_force(book, now) if each.card.program == program), None)


def award_of(each: Redemption, card: PublishedCard, now: datetime) -> PlannedAction:
    """For the award queue, under the key of the redemption."""
    key, points, of = redemption_key(each.redemption_id), each.award_points or 0, card.card
    label = f"{each.reward}@{each.version}"
    why = Rewarded(reward=label, redemption=str(each.redemption_id), card=card.name, points=points)
    award = Award(
        key=key,
        member_id=each.member_id,
        program=of.program,
        country=each.country,
        kind=TransferKind.EARN,
        points=points,
        occurred_at=now,
        expires_on=last_good_day(now, of.zone, of.expiry_months),
        activity=False,  # a gift is not a transaction: it does not keep other points alive
        fingerprint=fingerprint((key, each.member_id)),
        explanation=text_of(why),
        source=reward_source(each.reward),
        lifetime=of.expiry is Expiry.LIFETIME,
    )
    return PlannedAction(
        member_id=each.member_id,
        key=key,
        number=_AWARD,
        owner_kind=OWNER_KIND,
        owner=each.reward,
        version=each.version,
        step=0,
        variant=None,
        kind=DeedKind.AWARD,
        receiver=AWARDS,
        due_at=now,
        document=encode_award(award),
        event=None,
    )


def taken_back(each: Redemption, card: PublishedCard, now: datetime) -> Reversal:
    """All that is left of these points, by the policy of the card in force."""
    reverses, of = redemption_key(each.redemption_id), card.card
    key = f"{reverses}:points_back"
    return Reversal(
        key=key,
        member_id=each.member_id,
        program=of.program,
        country=each.country,
        fingerprint=fingerprint((key, each.member_id)),
        reverses=reverses,
        part=None,
        on_shortfall=of.on_shortfall,
        card=card.name,
        reason=f"reward {each.reward} returned",
        actor=each.actor,
        source=reward_source(each.reward),
        occurred_at=now,
        expires_on=last_good_day(now, of.zone, of.expiry_months),
        lifetime=of.expiry is Expiry.LIFETIME,
    )


def _in_force(book: CardBook, now: datetime) -> Iterator[PublishedCard]:
    for scope in book.scopes():
        with suppress(SetAside, Unavailable):
            yield book.in_force(scope, now)
