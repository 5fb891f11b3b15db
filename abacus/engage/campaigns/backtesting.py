"""What a campaign would have done with the events of a window of time. They are decided, and nothing is done."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from abacus.core.errors import SetAside, Unavailable
from abacus.core.fields import EARLIEST
from abacus.engage.campaigns.decide.budget import Pot, pots_of
from abacus.engage.campaigns.decide.calendar import day_of
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.deciding import decide
from abacus.engage.campaigns.decide.limits import Amounts, Bound
from abacus.engage.campaigns.decide.progress import places_of
from abacus.engage.campaigns.decide.run import Matched, Run
from abacus.engage.campaigns.decide.running import Running, compiled
from abacus.engage.campaigns.decide.same_event import contradictions
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.engage.campaigns.judging import Candidate, worth_of_steps
from abacus.engage.campaigns.shelf import Shelf
from abacus.engage.campaigns.values import Values
from abacus.engage.events.decide.reading import EventReader
from abacus.engage.events.types import Event
from abacus.engage.rules.decide.lazy import Decision
from abacus.engage.rules.rounds import Question, decide_all
from abacus.platform.kafka.reader import Record
from abacus.platform.quarantine.types import origin_of
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER


class Window(NamedTuple):
    """From a moment up to and without another."""

    begin: datetime
    end: datetime


class Line(NamedTuple):
    """The events of a day with one outcome, in one arm."""

    day: str
    variant: str
    outcome: str
    events: int
    points: int
    cost: int


class Backtest:
    """A campaign over a window, whatever its own times are. What rules look up is as it is now; limits begin unused."""

    def __init__(
        self, campaign: Campaign, window: Window, shelf: Shelf, *, around: Surroundings, book: CardBook, values: Values
    ) -> None:
        self._campaign = replace(campaign, starts_at=window.begin, ends_at=window.end, approved_at=EARLIEST)
        self._running = Running()
        self._running.put([self._campaign], around)
        self._armed, _ = compiled(self._campaign, around)
        self._around = around
        self._book = book
        self._values = values
        self._shelf = shelf
        self._left: dict[Pot, Amounts] = {}
        self._lines: dict[tuple[str, str, str], list[int]] = {}
        self.read = 0
        self.faulty = 0

    async def take(self, records: Sequence[Record], reader: EventReader) -> None:
        """Raises `Unavailable`."""
        candidates: list[Candidate] = []
        events: list[Event] = []
        for record in records:
            try:
                event = reader.read(record.value, self._around.now)
                if event is None:
                    continue
                self.read += 1
                events.append(event)
                for armed in self._running.answering(event):
                    card = self._book.in_force(self._campaign.country, event.occurred_at)
                    candidates.append(
                        Candidate(
                            origin_of(record.topic, record.partition, record.offset), record.value, event, armed, card
                        )
                    )
            except SetAside:
                self.faulty += 1
        firsts = {key: some[0] for key, some in contradictions(events).items()}
        if agreeing := [each for each in candidates if each.event == firsts.get(each.event.key, each.event)]:
            self._decide(await self._matched(agreeing))

    def lines(self) -> list[Line]:
        """By day, arm and outcome."""
        return [Line(*place, *amounts) for place, amounts in sorted(self._lines.items())]

    async def _matched(self, candidates: Sequence[Candidate]) -> list[Matched]:
        decisions = await self._decisions(candidates)
        for each, decision in zip(candidates, decisions, strict=True):
            if decision.holds is None:
                raise Unavailable("values", f"what decides about {each.event.key} cannot be told now")
        holding = [each for each, decision in zip(candidates, decisions, strict=True) if decision.holds]
        tiers = await self._values.tiers_of({each.subject.account for each in holding if each.armed.by_tier})
        matched = []
        for each in holding:
            tier = tiers.get(each.subject.account) if each.armed.by_tier else BASE_TIER
            if tier is None:
                raise Unavailable("tiers", f"that of {each.subject.member_id} cannot be told now")
            try:
                worth = worth_of_steps(each, tier)
            except SetAside:
                self.faulty += 1
                continue
            matched.append(Matched(self._campaign, each.subject.member_id, each.event, (), worth))
        return matched

    async def _decisions(self, candidates: Sequence[Candidate]) -> Sequence[Decision]:
        plan = self._armed.plan
        if plan is None or not self._armed.looks_up:  # the index has decided it
            return [Decision(holds=True, wanted=None, looked=())] * len(candidates)
        return await decide_all([Question(each.subject, each.event, plan) for each in candidates], self._values)

    def _decide(self, matched: Sequence[Matched]) -> None:
        by_key: dict[str, Matched] = {}
        for each in matched:
            by_key.setdefault(each.key, each)
        new = self._shelf.claimed(by_key)
        fresh = [each for key, each in by_key.items() if key in new]
        bounds: Mapping[Pot, Bound] = {pot: bound for each in fresh for pot, bound in pots_of(each).items()}
        for pot, bound in bounds.items():
            self._left.setdefault(pot, Amounts(*(most or 0 for most in bound)))
        places = {
            place for each in fresh for place in places_of(self._campaign, each.member_id, each.event.occurred_at)
        }
        decided = decide(fresh, self._shelf.load(places), self._left, bounds)
        for pot, taken in decided.taken.items():
            self._left[pot] = self._left[pot].minus(bounds[pot].limited(taken))
        self._shelf.save(decided.progress, decided.runs)
        for run in decided.runs:
            self._count(run)

    def _count(self, run: Run) -> None:
        outcome = f"{run.outcome}:{run.refusal}" if run.refusal else run.outcome.value
        place = day_of(self._campaign, run.matched.event.occurred_at), run.variant or "", outcome
        line = self._lines.setdefault(place, [0, 0, 0])
        for number, more in enumerate((1, run.amounts.points, run.amounts.cost)):
            line[number] += more
