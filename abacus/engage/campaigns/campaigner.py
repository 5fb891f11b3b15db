"""Decides the events of a topic for the campaigns in force.

Nothing is remembered of an event that no campaign answers to. What comes of the others is durable before the offset is
committed, and an event that is read again finds its claims (docs/adr/0055).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside
from abacus.core.ids import campaign_key
from abacus.engage.campaigns.decide.actions import Award
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.conditions import conditions_of
from abacus.engage.campaigns.decide.run import Matched
from abacus.engage.campaigns.decide.running import Armed
from abacus.engage.campaigns.decide.worth import Worth, worth_of
from abacus.engage.campaigns.directory import InForce
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.values import Subject, Values
from abacus.engage.events.decide.following import followed_topics, reader_of
from abacus.engage.events.decide.reading import EventReader
from abacus.engage.events.replaying import again_topic, event_item
from abacus.engage.events.types import Event
from abacus.engage.rules.decide.lazy import Decision
from abacus.engage.rules.rounds import Question, decide_all
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.metrics import CAMPAIGN_EVENTS, CAMPAIGN_RUNS
from abacus.platform.patience import until_available
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item, Stage, origin_of
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER, PublishedCard

_AT_ONCE: Final = 2_000  # events in one transaction
_LONGEST_KEY: Final = 390  # of a claim: the number of a step stands behind it, and a key of the ledger has 400


class Candidate(NamedTuple):
    """An event that a campaign may answer to, with its message and the card of the campaign's country."""

    record: Record
    event: Event
    armed: Armed
    card: PublishedCard

    @property
    def subject(self) -> Subject:
        return Subject(self.armed.campaign, self.event.member_id or "", self.card.card.program)


class CampaignTopics:
    """What each topic's events are decided by. Raises `Unavailable` as `in_force` does."""

    def __init__(self, in_force: Callable[[], InForce], events_topic: str) -> None:
        self._in_force = in_force
        self._events_topic = events_topic
        self._readers: dict[str, tuple[int, EventReader]] = {}

    def topics(self) -> frozenset[str]:
        now = self._in_force()
        topics = followed_topics(now.running.types(), now.sources, self._events_topic)
        return topics | {again_topic(self._events_topic)} if topics else topics

    def reader(self, topic: str) -> EventReader:
        """The same object until a document changes."""
        now, known = self._in_force(), self._readers.get(topic)
        if known is None or known[0] != now.changes:
            form = self._events_topic if topic == again_topic(self._events_topic) else topic
            reader = reader_of(form, now.running.types(), now.sources, self._events_topic)
            known = self._readers[topic] = now.changes, reader
        return known[1]

    def answering(self, event: Event) -> Sequence[Armed]:
        return self._in_force().running.answering(event)


class Campaigner:
    """The handler of a reader of one topic."""

    def __init__(
        self,
        topic: str,
        topics: CampaignTopics,
        *,
        values: Values,
        cards: Callable[[], CardBook],
        effects: Effects,
        quarantine: QuarantinePort,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        self._topic = topic
        self._topics = topics
        self._values = values
        self._cards = cards
        self._effects = effects
        self._quarantine = quarantine
        self._clock = clock
        self._health = health

    async def handle(self, records: Sequence[Record]) -> None:
        """Returns when what follows from these events is durable."""
        for first in range(0, len(records), _AT_ONCE):
            some = records[first : first + _AT_ONCE]
            await until_available(partial(self._handle, some), self._health)

    async def _handle(self, records: Sequence[Record]) -> None:
        aside: list[Item] = []
        candidates = self._candidates(records, aside)
        matched = await self._matched(candidates, aside)
        await self._quarantine.add(aside)
        runs = await self._effects.decide(matched)
        CAMPAIGN_EVENTS.labels(self._topic, "read").inc(len(records))
        CAMPAIGN_EVENTS.labels(self._topic, "answered").inc(len({id(each.event) for each in matched}))
        CAMPAIGN_EVENTS.labels(self._topic, "set_aside").inc(len(aside))
        for run in runs:
            CAMPAIGN_RUNS.labels(run.outcome.value).inc()

    def _candidates(self, records: Sequence[Record], aside: list[Item]) -> list[Candidate]:
        """Raises `Unavailable` when the documents or the cards were never read."""
        reader, cards, now = self._topics.reader(self._topic), self._cards(), self._clock.now()
        candidates: list[Candidate] = []
        for record in records:
            try:
                event = reader.read(record.value, now)
            except SetAside as fault:
                aside.append(event_item(record, fault))
                continue
            if event is None:
                continue
            for armed in self._topics.answering(event):
                try:
                    card = cards.in_force(armed.campaign.country, event.occurred_at)
                except SetAside as fault:
                    aside.append(_item(record, armed.campaign, fault))
                    continue
                candidates.append(Candidate(record, event, armed, card))
        return candidates

    async def _matched(self, candidates: Sequence[Candidate], aside: list[Item]) -> list[Matched]:
        """Those whose conditions hold, of each exclusive group the first by priority, with their worth."""
        decisions = await self._decided(candidates)
        holding = [(each, decision) for each, decision in zip(candidates, decisions, strict=True) if decision.holds]
        tiers = await self._tiers([each for each, _ in holding if each.armed.by_tier])
        matched: list[Matched] = []
        for each, decision in _exclusive(holding):
            try:
                worth = worth_of_steps(each, tiers.get((each.subject.member_id, each.subject.program), BASE_TIER))
            except SetAside as fault:
                aside.append(_item(each.record, each.armed.campaign, fault))
                continue
            conditions = conditions_of(decision.looked)
            matched.append(Matched(each.armed.campaign, each.subject.member_id, each.event, conditions, worth))
        return matched

    async def _decided(self, candidates: Sequence[Candidate]) -> list[Decision]:
        """What memory tells is decided at once; the rest in rounds."""
        decisions: dict[int, Decision] = {}
        questions: dict[int, Question[Subject]] = {}
        for place, each in enumerate(candidates):
            plan = each.armed.plan
            if plan is None:
                decisions[place] = Decision(holds=True, wanted=None, looked=())
            elif each.armed.looks_up:
                questions[place] = Question(each.subject, each.event, plan)
            else:
                decisions[place] = plan.decide(each.event, {})
        answers = await decide_all(list(questions.values()), self._values) if questions else []
        decisions |= dict(zip(questions, answers, strict=True))
        return [decisions[place] for place in range(len(candidates))]

    async def _tiers(self, candidates: Sequence[Candidate]) -> Mapping[tuple[str, str], str]:
        return await self._values.tiers_of({(each.subject.member_id, each.subject.program) for each in candidates})


def _exclusive(holding: Sequence[tuple[Candidate, Decision]]) -> Iterator[tuple[Candidate, Decision]]:
    """Of the campaigns of a group that answer to one event, the one with the highest priority; of equals, the first by
    name.
    """
    for _, of_event in groupby(holding, key=lambda each: id(each[0].event)):
        taken: set[str] = set()
        for candidate, decision in sorted(of_event, key=_order):
            group = candidate.armed.campaign.exclusive
            if group is None or group not in taken:
                yield candidate, decision
            if group is not None:
                taken.add(group)


def _order(each: tuple[Candidate, Decision]) -> tuple[int, str]:
    campaign = each[0].armed.campaign
    return -campaign.priority, campaign.name


def worth_of_steps(candidate: Candidate, tier: str) -> Mapping[int, Worth]:
    """The points of each step that awards any. Raises `SetAside`."""
    key = campaign_key(candidate.armed.campaign.name, candidate.event.key)
    if len(key) > _LONGEST_KEY:
        raise SetAside(Reason.INVALID, f"its key has {len(key)} characters, and {_LONGEST_KEY} are room for")
    return {
        step.number: worth_of(action.deed, candidate.event, candidate.card, tier)
        for step in candidate.armed.campaign.steps
        for action in step.actions
        if isinstance(action.deed, Award)
    }


def _item(record: Record, campaign: Campaign, fault: SetAside) -> Item:
    """An event that a campaign cannot be decided for. The same event and campaign make the same item."""
    origin = f"{origin_of(record.topic, record.partition, record.offset)}#{campaign.name}"
    return Item.of(Stage.CAMPAIGN, origin, record.value, SetAside(fault.reason, f"{campaign.label}: {fault.detail}"))
