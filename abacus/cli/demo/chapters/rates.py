"""The rate cards of three countries: tiers of two months, points that lapse after as many, and a dearer meal since. In
one of them points vest a week after the purchase.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time
from typing import Final

from abacus.approving.card_desk import CardDesk
from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.cli.examples import example_cards
from abacus.pricing.decide.card import RateCard, TierPolicy
from abacus.pricing.decide.figures import multiplier
from abacus.programs.expiry.decide.month import Month

COUNTRIES: Final = ("SG", "ID", "TH")
_TIER_MONTHS: Final = 2
_EXPIRY_MONTHS: Final = 2
_VESTING: Final = {"TH": 7}  # days, in which a purchase may be given back
_CHANGES_AFTER: Final = 3  # months that have ended


class Rates(Chapter):
    """Cleo publishes them."""

    looks = (
        Look("dora", "/approvals", "what waits for a second person: a card, a campaign, an offer, points and more"),
    )

    _ended = 0

    async def begin(self) -> None:
        now = self.house.clock.now()
        cards = [each for each in example_cards() if each.scope in COUNTRIES]
        await self._publish([_of_the_story(each, now.date()) for each in cards])

    async def month_ended(self, month: Month) -> None:
        self._ended += 1
        if self._ended == _CHANGES_AFTER:
            await self._publish([await self._with_meals("SG", "2.5", month.after.after.first_day)])

    async def end(self) -> None:
        """What is to come waits for a second person."""
        first = Month.of(self.house.clock.now().date()).after.first_day
        await self._desk().ask(await self._with_meals("TH", "2.25", first), self.house.people["cleo"])

    async def _with_meals(self, scope: str, times: str, start: date) -> RateCard:
        card = (await self._desk().version(scope)).document
        begins = _midnight(card, start)
        return replace(card, effective_from=begins, verticals={**card.verticals, "food": multiplier(times)})

    async def _publish(self, cards: Sequence[RateCard]) -> None:
        desk = CardDesk(self.house.pool, self.house.clock, self.house.moves.approvals, needs_approval=False)
        await desk.publish(await desk.differences(cards), self.house.people["cleo"])

    def _desk(self) -> CardDesk:
        return CardDesk(self.house.pool, self.house.clock, self.house.moves.approvals)


def _of_the_story(card: RateCard, first: date) -> RateCard:
    policy = card.tier_policy and TierPolicy(_TIER_MONTHS, card.tier_policy.thresholds)
    begins = _midnight(card, first)
    return replace(
        card,
        effective_from=begins,
        expiry_months=_EXPIRY_MONTHS,
        tier_policy=policy,
        vests_after_days=_VESTING.get(card.scope),
    )


def _midnight(card: RateCard, day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=card.zone)
