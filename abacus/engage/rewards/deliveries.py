"""How what was redeemed comes to the member, apart from codes: by a fulfiller, as an invitation, as other points.

Each is done once under the redemption's key, however often it is asked for.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.core.ids import redemption_key
from abacus.engage.actions.action_store import plan_anew
from abacus.engage.actions.types import PlannedAction
from abacus.engage.offers.gifts import Gift, give_new, invited_to, is_given, open_offers, take_back
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.rewards.decide.fulfiller_call import call_of
from abacus.engage.rewards.decide.other_program import award_of, card_of, taken_back
from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.engage.rewards.decide.redemption import Redemption, Stage
from abacus.ledger.types.movement import Decline, Declined, Moved, MovesPort
from abacus.ledger.types.port import Status
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard

_TAKEN_BACK: Final = frozenset({Status.POSTED, Status.DUPLICATE})


class Deliveries:
    """Every method raises `Unavailable`, after which it is done again."""

    def __init__(self, pool: Pool, moves: MovesPort, book: Callable[[], CardBook], clock: Clock) -> None:
        self._pool = pool
        self._moves = moves
        self._book = book
        self._clock = clock
        self._offers = OfferStore(pool)

    async def against(self, member_id: str, offers: Collection[str]) -> Mapping[str, Locked]:
        """Why the member cannot be invited to some of these offers now."""
        if not offers:
            return {}
        open_ = await open_offers(self._pool, offers, self._clock.now())
        invited = await invited_to(self._pool, member_id)
        known = {name for name, number in open_.numbers.items() if number in invited}
        return {
            **{name: Locked(Lock.CLOSED, why) for name, why in open_.against.items()},
            **{name: _invited(member_id, name) for name in known},
        }

    async def before_payment(self, taken: Iterable[Redemption]) -> Mapping[str, Locked]:
        """Does what has to be certain before points are paid; returns by key why it cannot be done."""
        against: dict[str, Locked] = {}
        inviting = {each: each.offer for each in taken if each.offer is not None}
        if not inviting:
            return against
        now, names = self._clock.now(), set(inviting.values())
        open_, numbers = await open_offers(self._pool, names, now), await self._offers.numbers(sorted(names))
        for each, offer in inviting.items():
            gift = _gift(each, numbers[offer])
            if offer in open_.numbers:
                if not await give_new(self._pool, gift, now):
                    against[each.key] = _invited(each.member_id, offer)
            elif not await is_given(self._pool, gift):  # another process may have gone on to pay it
                against[each.key] = Locked(Lock.CLOSED, open_.against[offer])
        return against

    async def after_payment(self, done: Iterable[Redemption]) -> None:
        """Asks for what is taken, and calls off what is cancelled."""
        now = self._clock.now()
        for each in done:
            if (action := self._action(each, now)) is not None:
                async with slices.at(self._pool, each.member_id) as connection:
                    await plan_anew(connection, action, now)

    async def take_back(self, some: Sequence[Redemption]) -> Mapping[str, str]:
        """Takes back what was delivered; returns by key why it stays with the member."""
        now, against = self._clock.now(), dict[str, str]()
        inviting = {each: each.offer for each in some if each.offer is not None}
        numbers = await self._offers.numbers(sorted(set(inviting.values()))) if inviting else {}
        for each, offer in inviting.items():
            if not await take_back(self._pool, _gift(each, numbers[offer]), offer, now):
                against[each.key] = f"the offer {offer} is used"
        awarded = [each for each in some if each.award_program is not None]
        if awarded:
            reversals = [taken_back(each, self._card(each, now), now) for each in awarded]
            for each, one in zip(awarded, await self._moves.move(reversals), strict=True):
                if (why := _stays(one)) is not None:
                    against[each.key] = why
        return against

    def _action(self, each: Redemption, now: datetime) -> PlannedAction | None:
        if each.webhook is not None:
            return call_of(each, each.webhook, now)
        if each.award_program is not None and each.stage == Stage.TAKEN:
            return award_of(each, self._card(each, now), now)
        return None

    def _card(self, each: Redemption, now: datetime) -> PublishedCard:
        card = card_of(self._book(), each.award_program or "", now)
        if card is None:
            raise Unavailable("rate cards", f"no card gives points of {each.award_program} now")
        return card


def _gift(each: Redemption, number: int) -> Gift:
    return Gift(each.member_id, redemption_key(each.redemption_id), number)


def _invited(member_id: str, offer: str) -> Locked:
    return Locked(Lock.INVITED, f"{member_id} is invited to {offer} already")


def _stays(one: Moved) -> str | None:
    """Why points of another program are not taken back. Points that were spent are the policy of the card."""
    if one.status in _TAKEN_BACK:
        return None
    if isinstance(one.fault, Declined):
        if one.fault.reason is Decline.REVERSED_ALREADY:
            return None
        if one.fault.reason is Decline.NOT_REVERSIBLE:
            return "its points are on their way"
    return "its points cannot be taken back" if one.fault is None else str(one.fault)
