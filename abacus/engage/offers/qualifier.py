"""Answers which offers there are for items: from memory as far as that tells, and for the rest with few look-ups."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from datetime import datetime
from typing import Final, NamedTuple, Protocol, TypeAlias

from abacus.core.clock import Clock
from abacus.core.errors import AbacusError, Unavailable
from abacus.engage.offers.conversation import Conversation, Told
from abacus.engage.offers.decide.ask import Answer, Ask, Counted, ItemAnswer, Scenario, Validated, Verdicts
from abacus.engage.offers.decide.asker import NOTHING_USED, Asker, Wanted
from abacus.engage.offers.decide.by_code import Named, by_codes
from abacus.engage.offers.decide.choice import Choice, Found, Tally, best, every, judge, tally
from abacus.engage.offers.decide.member_uses import uses_left
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.purchase import Purchases, worth_of_a_point
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.refusal import Refusal, refusal
from abacus.engage.offers.decide.spot import FindSpots, nowhere
from abacus.engage.offers.decide.stacking import Combination, combination
from abacus.engage.offers.facts import OfferSubject
from abacus.engage.offers.members import Known
from abacus.ledger.types.account import AccountId
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER, PublishedCard
from abacus.signals.facts.decide.catalog import BALANCE, COUNTRY, TIER
from abacus.signals.facts.types import FactRegistry
from abacus.signals.rules.decide.types import Side
from abacus.signals.segments.types import Members as Segment

_LOOK_WITHIN_S: Final = 0.25  # a page does not wait longer for what rules ask
_OF_MEMBER: Final = frozenset({TIER, BALANCE, COUNTRY})
_OF_NOBODY: Final[Mapping[str, Told]] = {TIER: None, BALANCE: None, COUNTRY: None}

InSegment: TypeAlias = Callable[[str], bool | None]
Note: TypeAlias = Callable[[Ask, Answer], None]
Chosen: TypeAlias = dict[int, Choice]


class OtherCountry(AbacusError):
    """The member's points are in another country than the country that is asked about."""


class MemberReader(Protocol):
    """Tells what is known of a member. Raises `Unavailable`."""

    def of(self, account: AccountId) -> Awaitable[Known]: ...


def nothing_noted(_: Ask, __: Answer) -> None:
    """Where nobody counts the answers."""


class Qualifier:
    """One for each process. `note` is told each answer about what there is; `spots` finds where items are bought. Its
    methods raise `OtherCountry`, and `Unavailable` only where the offers or the cards were never read: where less can
    be read, the answer is degraded.
    """

    def __init__(
        self,
        index: Callable[[], OfferIndex],
        cards: Callable[[], CardBook],
        *,
        members: MemberReader,
        segments: Callable[[], Mapping[str, Segment]],
        facts: FactRegistry[OfferSubject],
        clock: Clock,
        note: Note = nothing_noted,
        spots: FindSpots = nowhere,
        look_within_s: float = _LOOK_WITHIN_S,
    ) -> None:
        self.spots = spots
        self._index = index
        self._cards = cards
        self._members = members
        self._segments = segments
        self._facts = facts
        self._clock = clock
        self._note = note
        self._look_within_s = look_within_s
        self._purchases = Purchases()

    def over(self, index: OfferIndex) -> "Qualifier":
        """The same, about these offers alone."""
        other = copy(self)
        other._index = lambda: index  # noqa: SLF001  # of this class
        return other

    def rehearsing(self, members: MemberReader, facts: FactRegistry[OfferSubject]) -> "Qualifier":
        """The same offers in the sandbox, for its members; nobody counts these answers."""
        other = copy(self)
        other._members, other._facts, other._note = members, facts, nothing_noted  # noqa: SLF001  # of this class
        return other

    def quietly(self) -> "Qualifier":
        """The same; nobody counts these answers."""
        other = copy(self)
        other._note = nothing_noted  # noqa: SLF001  # of this class
        return other

    def named(self, name: str) -> Offer | None:
        """The offer of this name, where it is in force."""
        armed = self._index().named(name)
        return None if armed is None else armed.offer

    def by_invitation(self) -> frozenset[int]:
        """The numbers of the offers in force that are by invitation."""
        return self._index().by_invitation()

    def without_public(self, country: str, codes: Sequence[str]) -> Sequence[str]:
        """The codes that are no public code of an offer in force in the country."""
        index = self._index()
        return [each for each in codes if index.by_code(country, each) is None]

    def card(self, country: str) -> PublishedCard:
        """The card that is in force in the country. Raises `SetAside` where there is none, and `Unavailable`."""
        return self._cards().in_force(country, self._clock.now())

    async def qualify(self, ask: Ask) -> Answer:
        """The offers of the items."""
        answer = await self._answered(ask)
        self._note(ask, answer)
        return answer

    async def _answered(self, ask: Ask) -> Answer:
        talk, index = await self._begun(ask), self._index()
        if ask.scenario is Scenario.BASKET:
            return await self._basket(talk, index)
        chosen = await self._chosen(talk, index)
        items = []
        for place in range(len(ask.items)):
            items.append(self._answer(talk, place, chosen[place]))
            await talk.turn.rest()
        return Answer(items, talk.reading(is_uncertain=_any_uncertain(chosen)))

    async def counted(self, ask: Ask, most: int) -> Counted:
        """The best offers of the only item, at most `most`, and the number of all."""
        talk, index = await self._begun(ask), self._index()
        while isinstance(found := await self._tallied(talk, index, most), Wanted):
            await talk.look_up({0: found.sides}, self._facts, within_s=self._look_within_s)
        line = ask.items[0].line
        shown = [talk.shown(0, each, line - each.saves) for each in found.best]
        return Counted(shown, found.in_all, talk.reading(is_uncertain=found.is_uncertain))

    async def _tallied(self, talk: Conversation, index: OfferIndex, most: int) -> Tally | Wanted:
        """Others go on meanwhile."""
        tallying = tally(index, talk.asker, talk.question(0), most)
        while (found := next(tallying)) is None:
            await talk.turn.rest()
        return found

    async def validate(self, ask: Ask, names: Sequence[str]) -> Verdicts:
        """What each of these offers, and of the offers by the codes, would save on the items by itself, or why not."""
        talk, index = await self._begun(ask), self._index()
        named = [Named(name, index.named(name)) for name in names]
        named += by_codes(index, ask, talk.asker.at)
        while True:
            wanted: dict[int, set[Side]] = {}
            judged = []
            for each in named:
                judged.append((each, _judged(talk, index, each, wanted)))
                await talk.turn.rest()
            if not wanted:
                break
            await talk.look_up(wanted, self._facts, within_s=self._look_within_s)
        verdicts = [_verdict(talk, *each) for each in judged]
        uncertain = any(each is not None and each.is_uncertain for _, each in judged)
        return Verdicts(verdicts, talk.reading(is_uncertain=uncertain))

    async def _basket(self, talk: Conversation, index: OfferIndex) -> Answer:
        places = range(len(talk.ask.items))
        while True:
            questions = [talk.question(place) for place in places]
            outcome = combination(index, talk.asker, questions)
            if isinstance(outcome, Combination):
                break
            wanted = dict.fromkeys(places, outcome.sides)
            await talk.look_up(wanted, self._facts, within_s=self._look_within_s)
        chosen = await self._chosen(talk, index) if talk.ask.explains else {}
        items = [self._together(talk, place, outcome, chosen.get(place)) for place in places]
        return Answer(items, talk.reading(is_uncertain=outcome.is_uncertain, is_exact=outcome.exact))

    async def _chosen(self, talk: Conversation, index: OfferIndex) -> Chosen:
        choose = every if talk.ask.scenario is Scenario.ALL else best
        chosen: Chosen = {}
        waiting: Sequence[int] = range(len(talk.ask.items))
        while waiting:
            wanted: dict[int, frozenset[Side]] = {}
            for place in waiting:
                outcome = choose(index, talk.asker, talk.question(place), explain=talk.ask.explains)
                if isinstance(outcome, Wanted):
                    wanted[place] = outcome.sides
                else:
                    chosen[place] = outcome
                await talk.turn.rest()
            if wanted:
                await talk.look_up(wanted, self._facts, within_s=self._look_within_s)
            waiting = list(wanted)
        return chosen

    def _answer(self, talk: Conversation, place: int, choice: Choice) -> ItemAnswer:
        item = talk.ask.items[place]
        line = item.line
        shown = [talk.shown(place, each, line - each.saves) for each in choice.fitting()]
        return ItemAnswer(item, shown[0] if shown else None, shown[1:], choice.refused)

    def _together(self, talk: Conversation, place: int, outcome: Combination, choice: Choice | None) -> ItemAnswer:
        """The offers that stand together on a line, which costs the same with each: all of them are taken."""
        item, uses = talk.ask.items[place], [each.found for each in outcome.uses if each.place == place]
        pays = item.line - sum(each.saves for each in uses)
        shown = [talk.shown(place, each, pays) for each in uses]
        return ItemAnswer(item, shown[0] if shown else None, shown[1:], choice.refused if choice is not None else ())

    async def _begun(self, ask: Ask) -> Conversation:
        card, now, member_id = ask.card.card, self._clock.now(), ask.member_id
        admitted, worth = self._admitted_by_codes(ask, now), worth_of_a_point(ask.card)
        if member_id is None:
            asker = Asker(card.scope, now, admitted=admitted, point_value=worth)
            return Conversation(ask, asker, BASE_TIER, _OF_NOBODY, self._purchases)
        try:
            known = await self._members.of((member_id, card.program))
        except Unavailable:
            asker = Asker(card.scope, now, member_id, None, admitted, _not_told, not_now=_OF_MEMBER, point_value=worth)
            return Conversation(ask, asker, None, {}, self._purchases, is_degraded=True)
        account = known.account
        if account is not None and account.country != card.scope:
            raise OtherCountry(f"the member's points are not in {card.scope}")
        asker = Asker(
            card.scope,
            now,
            member_id,
            known.tier,
            admitted | known.invited if admitted else known.invited,
            self._in_segment(known),
            self._uses_left(known, now) if known.used and not ask.takes else NOTHING_USED,
            point_value=worth,
        )
        balance, country = (account.balance, account.country) if account is not None else (0, None)
        told = {BALANCE: balance, COUNTRY: country}
        return Conversation(ask, asker, known.tier, told, self._purchases, known.at)

    def _admitted_by_codes(self, ask: Ask, now: datetime) -> frozenset[int]:
        if not ask.codes:
            return frozenset()
        found = by_codes(self._index(), ask, now)
        return frozenset(each.armed.number for each in found if each.armed is not None and not each.is_taken)

    def _uses_left(self, known: Known, now: datetime) -> Mapping[int, int]:
        index, left = self._index(), dict[int, int]()
        for name, taken in known.used.items():
            armed = index.named(name)
            if armed is not None:
                left[armed.number] = uses_left(armed.offer.limits, taken, now.astimezone(armed.offer.zone).date())
        return left

    def _in_segment(self, known: Known) -> InSegment:
        try:
            segments = self._segments()
        except Unavailable:
            return _not_told
        number = known.number

        def in_segment(name: str) -> bool | None:
            members = segments.get(name)
            if members is None:  # it came into use a moment ago
                return None
            return number is not None and number in members

        return in_segment


def _not_told(_: str) -> bool | None:
    return None


class _Judged(NamedTuple):
    """An offer on each line, as far as it could be told."""

    offer: Offer
    fits: Sequence[tuple[int, Found]]
    refused: Refusal | None
    is_uncertain: bool


def _judged(talk: Conversation, index: OfferIndex, named: Named, wanted: dict[int, set[Side]]) -> _Judged | None:
    """Adds to `wanted` what has to be looked up before the offer can be judged."""
    if (armed := named.armed) is None:
        return None
    if named.is_taken:
        asked = index.ask(talk.asker, talk.question(0))
        return _Judged(armed.offer, (), refusal(Reason.CODE_USED, armed, asked), is_uncertain=False)
    fits: list[tuple[int, Found]] = []
    refused: Refusal | None = None
    is_uncertain = False
    for place in range(len(talk.ask.items)):
        asked = index.ask(talk.asker, talk.question(place))
        outcome = judge(armed, asked)
        is_uncertain |= asked.is_uncertain
        match outcome:
            case Wanted():
                wanted.setdefault(place, set()).update(outcome.sides)
            case Refusal():
                refused = refused or outcome
            case Found():
                fits.append((place, outcome))
    return _Judged(armed.offer, fits, None if fits else refused, is_uncertain)


def _verdict(talk: Conversation, named: Named, judged: _Judged | None) -> Validated:
    if judged is None or judged.offer.country != talk.ask.card.card.scope:
        return Validated(named.text, named.is_code, None)
    items = talk.ask.items
    fits = [(place, talk.shown(place, found, items[place].line - found.saves)) for place, found in judged.fits]
    return Validated(named.text, named.is_code, judged.offer, fits, judged.refused)


def _any_uncertain(chosen: Chosen) -> bool:
    return any(each.is_uncertain for each in chosen.values())
