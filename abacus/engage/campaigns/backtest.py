"""What a campaign would have done with the events of a window of time. They are decided, and nothing is done."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import SetAside, Unavailable
from abacus.engage.actions.decide.deeds import Grant
from abacus.engage.campaigns.decide.batch import contradictions, decide
from abacus.engage.campaigns.decide.calendar import day_of
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_index import CampaignIndex, compiled
from abacus.engage.campaigns.decide.progress import places_of
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.run import Matched, Run
from abacus.engage.campaigns.evaluator import Candidate, in_order, matched_by
from abacus.engage.campaigns.facts import CampaignSubject
from abacus.engage.campaigns.shelf import Shelf
from abacus.engage.limits.decide.pots import Pot, pots_of
from abacus.engage.limits.types import Amounts, Bound
from abacus.ledger.types.account import AccountId
from abacus.platform.kafka.reader import Record
from abacus.platform.quarantine.types import origin_of
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.types import Event
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.rounds import Question, decide_all
from abacus.signals.facts.types import FactRegistry
from abacus.signals.rules.decide.plan import Decision

_DECIDED: Final = Decision(holds=True, wanted=None, looked=())  # by the index


class BacktestLine(NamedTuple):
    """The events of a day with one outcome, in one arm."""

    day: str
    variant: str
    outcome: str
    events: int
    points: int
    cost: int


class Backtest:
    """A campaign over the time in which it would have run, beside the others of its exclusive group, each version over
    the time in which it did. What rules look up is as it is now; limits begin unused.
    """

    def __init__(
        self,
        campaign: Campaign,
        beside: Sequence[Campaign],
        shelf: Shelf,
        *,
        around: Publications,
        book: CardBook,
        facts: FactRegistry[CampaignSubject],
        members: MemberFacts,
    ) -> None:
        """Raises `DocumentFaults` for a campaign that does not fit what is published."""
        compiled(campaign, around)
        self._campaign = campaign
        self._running = [_running(each, around) for each in (campaign, *beside)]
        self._around = around
        self._book = book
        self._facts = facts
        self._members = members
        self._shelf = shelf
        self._left: dict[Pot, Amounts] = {}
        self._lines: dict[tuple[str, str, str], list[int]] = {}
        self._granted: Counter[Grant] = Counter()
        self.read = 0
        self.faulty = 0

    async def take(self, records: Sequence[Record], reader: EventReader) -> None:
        """Raises `Unavailable`."""
        candidates: list[Candidate] = []
        events: list[Event] = []
        for record in records:
            try:
                event = reader.read(record.value, self._around.now)
            except SetAside:
                self.faulty += 1
                continue
            if event is None:
                continue
            self.read += (event.source, event.type) in self._campaign.on
            events.append(event)
            candidates += self._candidates(record, event)
        firsts = {key: some[0] for key, some in contradictions(events).items()}
        if agreeing := [each for each in candidates if each.event == firsts.get(each.event.key, each.event)]:
            self._decide(await self._matched(agreeing))

    def lines(self) -> list[BacktestLine]:
        """By day, arm and outcome."""
        return [BacktestLine(*place, *amounts) for place, amounts in sorted(self._lines.items())]

    def granted(self) -> list[tuple[Grant, int]]:
        """How often each offer and reward would have been granted."""
        return sorted(self._granted.items(), key=lambda each: (each[0].what, each[0].name))

    def _candidates(self, record: Record, event: Event) -> Iterator[Candidate]:
        origin = origin_of(record.topic, record.partition, record.offset)
        for armed in (each for running in self._running for each in running.answering(event)):
            try:
                card = self._book.in_force(armed.campaign.country, event.occurred_at)
            except SetAside:
                self.faulty += armed.campaign.name == self._campaign.name
                continue
            yield Candidate(origin, record.value, event, armed, card)

    async def _matched(self, candidates: Sequence[Candidate]) -> list[Matched]:
        decisions = await self._decisions(candidates)
        for each, decision in zip(candidates, decisions, strict=True):
            if decision.holds is None:
                raise Unavailable("values", f"what decides about {each.event.key} cannot be told now")
        holding = [each for each in zip(candidates, decisions, strict=True) if each[1].holds]
        tiers = await self._members.tiers_of({each.subject.account for each, _ in holding if each.armed.by_tier})
        return [_in_tier(each, decision, tiers) for each, decision in in_order(holding)]

    async def _decisions(self, candidates: Sequence[Candidate]) -> Sequence[Decision]:
        asked = {
            place: Question(each.subject, each.armed.plan)
            for place, each in enumerate(candidates)
            if each.armed.plan is not None and each.armed.looks_up
        }
        answers = dict(zip(asked, await decide_all(list(asked.values()), self._facts), strict=True)) if asked else {}
        return [answers.get(place, _DECIDED) for place in range(len(candidates))]

    def _decide(self, matched: Sequence[Matched]) -> None:
        by_key: dict[str, Matched] = {}
        for each in matched:
            by_key.setdefault(each.key, each)
        bounds: dict[Pot, Bound] = {}
        for each in by_key.values():
            bounds |= pots_of(each.campaign, each.event.occurred_at)
        for pot, bound in bounds.items():
            self._left.setdefault(pot, Amounts(*(most or 0 for most in bound)))
        places = {
            place
            for each in by_key.values()
            for place in places_of(each.campaign, each.member_id, each.event.occurred_at)
        }
        claimed = self._shelf.claimed(by_key)
        decided = decide(by_key.values(), self._shelf.load(places), self._left, bounds, claimed)
        for pot, taken in decided.taken.items():
            self._left[pot] = self._left[pot].minus(bounds[pot].limited(taken))
        self._shelf.save(decided.progress, decided.runs, self._campaign.name)
        for run in decided.runs:
            if run.matched.campaign.name == self._campaign.name:
                self._count(run)
        self.faulty += sum(each.campaign.name == self._campaign.name for each in decided.faulty)

    def _count(self, run: Run) -> None:
        outcome = f"{run.outcome}:{run.refusal}" if run.refusal else run.outcome.value
        place = day_of(self._campaign, run.matched.event.occurred_at), run.variant or "", outcome
        line = self._lines.setdefault(place, [0, 0, 0])
        for number, more in enumerate((1, run.amounts.points, run.amounts.cost)):
            line[number] += more
        taken = (step for step in self._campaign.steps if step.number in run.steps)
        self._granted.update(each.deed for step in taken for each in step.actions if isinstance(each.deed, Grant))


def _in_tier(candidate: Candidate, decision: Decision, tiers: Mapping[AccountId, str]) -> Matched:
    """Raises `Unavailable`."""
    tier = tiers.get(candidate.subject.account) if candidate.armed.by_tier else BASE_TIER
    if tier is None:
        raise Unavailable("tiers", f"that of {candidate.subject.member_id} cannot be told now")
    return matched_by(candidate, decision, tier)


def _running(campaign: Campaign, around: Publications) -> CampaignIndex:
    running = CampaignIndex()
    running.put([campaign], around)
    return running
