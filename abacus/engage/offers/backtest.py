"""What an offer would have given for past purchases, had each that it fits used it. Nothing is done."""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from functools import partial
from typing import Final, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from abacus.core.errors import Unavailable
from abacus.engage.limits.decide.pots import Pot, pots_of
from abacus.engage.limits.types import Amounts, Bound
from abacus.engage.offers.decide.asker import Asker, Question, Wanted
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.choice import Found, weigh
from abacus.engage.offers.decide.currencies import decimals_of
from abacus.engage.offers.decide.grant import Taken, grant
from abacus.engage.offers.decide.offer import LIMIT_WORDS, Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.past import PastPurchase, item_of
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.reservation import Gain, LimitReached, amounts_of
from abacus.engage.offers.takers import Takers
from abacus.ledger.types.account import AccountId
from abacus.signals.events.types import Event, Position
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.facts.members import InSegments
from abacus.signals.facts.types import NOT_NOW, FactRegistry
from abacus.signals.facts.types import Found as FoundValue
from abacus.signals.rules.decide.parts import looked_up_sides
from abacus.signals.rules.decide.types import Origin, Rule, Side

GIVEN: Final = "given"
_MICROS_DECIMALS: Final = 6
_WORDS: Final = {"runs": LIMIT_WORDS.runs, "cost": LIMIT_WORDS.money}

# Which of these members are invited to the offer. Raises `Unavailable`.
InvitedAmong: TypeAlias = Callable[[Collection[str]], Awaitable[Collection[str]]]


class PastSubject(NamedTuple):
    """A purchase, as what a rule looks up is asked about it."""

    facts: Event
    zone: ZoneInfo
    account: AccountId
    position: Position | None = None

    @property
    def member_id(self) -> str:
        return self.account[0]

    @property
    def at(self) -> datetime:
        return self.facts.occurred_at


class BacktestLine(NamedTuple):
    """The purchases of a day with one outcome: given, or refused by a limit. Money is in millionths."""

    day: date
    outcome: str
    purchases: int
    money: int
    points: int


class OfferBacktest:
    """An offer by itself, over purchases in the order of their time. What rules look up is as it is now; limits begin
    unused. Without `invited` everybody is.
    """

    def __init__(
        self,
        offer: Offer,
        rule: Rule | None,
        takers: Takers,
        *,
        facts: FactRegistry[PastSubject],
        segments: InSegments,
        invited: InvitedAmong | None,
        point_value: Fraction | None,
    ) -> None:
        self._offer = offer
        self._index = OfferIndex()
        self._index.put(offer, rule)
        self._armed = next(iter(self._index))
        self._segment_names = sorted(
            {each.name for each in looked_up_sides(rule) if each.place == SEGMENT} if rule else ()
        )
        self._takers = takers
        self._facts = facts
        self._segments = segments
        self._invited = invited
        self._point_value = point_value
        self._micros = int(10 ** (_MICROS_DECIMALS - decimals_of(offer.currency)))
        self._left: dict[Pot, Amounts] = {}
        self._lines: dict[tuple[date, str], list[int]] = {}
        self.read = 0
        self.refused: Counter[Reason] = Counter()

    async def take(self, purchases: Sequence[PastPurchase]) -> None:
        """Raises `Unavailable`."""
        self.read += len(purchases)
        wanted: list[Taken] = []
        gains: list[Gain] = []
        for purchase, outcome in zip(purchases, await self._judged(purchases), strict=True):
            if isinstance(outcome, Reason):
                self.refused[outcome] += 1
                continue
            gain = Gain(self._offer.currency, outcome.saves * self._micros, outcome.points)
            day = purchase.at.astimezone(self._offer.zone).date()
            amounts = amounts_of(self._offer, gain)
            wanted.append(Taken(self._offer, purchase.member_id, purchase.at, day, amounts))
            gains.append(gain)
        self._grant(wanted, gains)

    def lines(self) -> list[BacktestLine]:
        """By day and outcome."""
        return [BacktestLine(*place, *figures) for place, figures in sorted(self._lines.items())]

    def _grant(self, wanted: Sequence[Taken], gains: Sequence[Gain]) -> None:
        """In their order, as far as the limits go."""
        bounds: dict[Pot, Bound] = {}
        for each in wanted:
            bounds |= pots_of(self._offer, each.at)
        for pot, bound in bounds.items():
            self._left.setdefault(pot, Amounts(*(most or 0 for most in bound)))
        uses = self._takers.uses({each.place for each in wanted if each.counts_by_member})
        granted = grant([[each] for each in wanted], uses, self._left, bounds)
        for pot, taken in granted.taken.items():
            self._left[pot] = self._left[pot].minus(bounds[pot].limited(taken))
        self._takers.add([each for each, refusal in zip(wanted, granted.refusals, strict=True) if refusal is None])
        for each, gain, refusal in zip(wanted, gains, granted.refusals, strict=True):
            self._count(each.day, gain, refusal)

    def _count(self, day: date, gain: Gain, refusal: LimitReached | None) -> None:
        outcome = GIVEN if refusal is None else f"{_WORDS.get(refusal.what, refusal.what)}.{refusal.scope}"
        figures = self._lines.setdefault((day, outcome), [0, 0, 0])
        for place, more in enumerate((1, gain.saves, gain.points)):
            figures[place] += more

    async def _judged(self, purchases: Sequence[PastPurchase]) -> list[Found | Reason]:
        items = [item_of(each, self._offer.currency) for each in purchases]
        askers = await self._askers(purchases)
        looked_up: list[dict[str, FoundValue]] = [{} for _ in purchases]
        judged: dict[int, Found | Reason] = {}
        waiting: Sequence[int] = range(len(purchases))
        while waiting:
            wishes: dict[Origin, list[tuple[int, Side]]] = {}
            for place in waiting:
                told = {text: value for text, value in looked_up[place].items() if value is not NOT_NOW}
                question = Question(items[place], items[place].line, purchases[place].points, told)
                outcome = weigh(self._armed, self._index.ask(askers[place], question))
                if isinstance(outcome, Wanted):
                    for side in outcome.sides:
                        assert isinstance(side.place, Origin)  # noqa: S101  # nothing else is looked up
                        wishes.setdefault(side.place, []).append((place, side))
                else:
                    judged[place] = outcome
            for origin, some in wishes.items():
                asked = [(self._subject(purchases[place], items[place]), side) for place, side in some]
                for (place, side), value in zip(some, await self._facts.load(origin, asked), strict=True):
                    if value is NOT_NOW:
                        raise Unavailable("values", f"{side.text} cannot be told now")
                    looked_up[place][side.text] = value
            waiting = sorted({place for some in wishes.values() for place, _ in some})
        return [judged[place] for place in range(len(purchases))]

    async def _askers(self, purchases: Sequence[PastPurchase]) -> list[Asker]:
        members = {each.member_id for each in purchases}
        invited = members if self._invited is None else await self._invited(members)
        pairs = {(name, member) for name in self._segment_names for member in members}
        segments = await self._segments(pairs) if pairs else {}
        number = frozenset({self._offer.number})
        return [
            Asker(
                self._offer.country,
                each.at,
                each.member_id,
                each.tier,
                admitted=number if each.member_id in invited else frozenset(),
                in_segment=partial(_in_segment, segments, each.member_id),
                point_value=self._point_value,
            )
            for each in purchases
        ]

    def _subject(self, purchase: PastPurchase, item: Item) -> PastSubject:
        facts = Event("offers", "asked", "", purchase.member_id, self._offer.country, purchase.at, item.variables)
        return PastSubject(facts, self._offer.zone, (purchase.member_id, purchase.program))


def _in_segment(segments: Mapping[tuple[str, str], bool], member_id: str, name: str) -> bool:
    return segments[name, member_id]
