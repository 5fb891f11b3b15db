"""Which wishes are granted, in their order, by what is left of the limits. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple, TypeAlias

from abacus.engage.limits.decide.pots import AtHand, Pot, Short, pots_of
from abacus.engage.limits.types import NOTHING, Amounts, Scope
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.reservation import LimitReached


class Taken(NamedTuple):
    """What is to be taken of an offer's limits for a member, on a day of the offer's zone."""

    offer: Offer
    member_id: str
    at: datetime
    day: date
    amounts: Amounts

    @property
    def place(self) -> "TakerPlace":
        return TakerPlace(self.member_id, self.offer.name, self.day)

    @property
    def counts_by_member(self) -> bool:
        return not (self.offer.limits.member.open and self.offer.limits.member_day.open)


class TakerPlace(NamedTuple):
    """A member's uses of an offer on a day, and on all days."""

    member_id: str
    offer: str
    day: date


class Uses(NamedTuple):
    """What a member has taken of an offer."""

    ever: Amounts = NOTHING
    that_day: Amounts = NOTHING


Group: TypeAlias = Sequence[Taken]


class Granted(NamedTuple):
    """For each group None, or the limit that stands against it; and what was taken from each pot."""

    refusals: Sequence[LimitReached | None]
    taken: Mapping[Pot, Amounts]


def grant(
    groups: Iterable[Group],
    uses: Mapping[TakerPlace, Uses],
    left: Mapping[Pot, Amounts],
    complete: Collection[Pot],
) -> Granted:
    """A group is granted as a whole or not at all. A pot in `complete` has no more than is left of it. Raises `Short`
    when another pot has not enough.
    """
    batch = _Batch(uses, AtHand(left, complete))
    refusals = [batch.refusal(group) for group in groups]
    if needs := batch.at_hand.needs():
        raise Short(needs)
    return Granted(refusals, {pot: amounts for pot, amounts in batch.at_hand.taken.items() if amounts != NOTHING})


class _Batch:
    def __init__(self, uses: Mapping[TakerPlace, Uses], at_hand: AtHand) -> None:
        self._uses = uses
        self.at_hand = at_hand
        self._ever: dict[tuple[str, str], Amounts] = {}
        self._that_day: dict[TakerPlace, Amounts] = {}

    def refusal(self, group: Group) -> LimitReached | None:
        for number, each in enumerate(group):
            refusal = self._against(each)
            if refusal is not None:
                for granted in group[:number]:
                    self._take(granted, NOTHING.minus(granted.amounts))
                return refusal
            self._take(each, each.amounts)
        return None

    def _against(self, taken: Taken) -> LimitReached | None:
        offer, place, amounts = taken.offer, taken.place, taken.amounts
        if taken.counts_by_member:
            before = self._uses.get(place, Uses())
            ever = before.ever.plus(self._ever.get(place[:2], NOTHING))
            that_day = before.that_day.plus(self._that_day.get(place, NOTHING))
            for scope, used in ((Scope.MEMBER, ever), (Scope.MEMBER_DAY, that_day)):
                what = offer.limits.of(scope).short_of(used, amounts)
                if what is not None:
                    return LimitReached(offer.name, scope, what)
        if lacking := self.at_hand.lacking(pots_of(offer, taken.at), amounts):
            pot, what = lacking
            return LimitReached(offer.name, pot.scope, what)
        return None

    def _take(self, taken: Taken, amounts: Amounts) -> None:
        place = taken.place
        self.at_hand.take(pots_of(taken.offer, taken.at), amounts)
        self._ever[place[:2]] = self._ever.get(place[:2], NOTHING).plus(amounts)
        self._that_day[place] = self._that_day.get(place, NOTHING).plus(amounts)
