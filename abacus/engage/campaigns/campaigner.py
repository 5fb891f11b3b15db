"""Decides the events of a topic for the campaigns in force.

Nothing is remembered of an event that no campaign answers to. What comes of the others is durable before the offset is
committed, and an event that is read again finds its claims (docs/adr/0055).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import SetAside
from abacus.engage.campaigns.decide.campaign_index import Armed
from abacus.engage.campaigns.directory import InForce
from abacus.engage.campaigns.evaluator import Candidate, item_of
from abacus.engage.campaigns.metrics import CAMPAIGN_EVENTS
from abacus.engage.campaigns.seen import SeenStore
from abacus.engage.campaigns.verdicts import Verdicts
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.patience import until_available
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item, origin_of
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.substream import followed_topics, reader_of
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.replay import again_topic, event_item
from abacus.signals.events.types import Event, Position

_AT_ONCE: Final = 2_000  # events in one transaction


class CampaignTopics:
    """What each topic's events are decided by. Raises `Unavailable` as `in_force` does."""

    def __init__(self, in_force: Callable[[], InForce], events_topic: str, locate: Locate | None = None) -> None:
        self._locate = locate
        self._in_force = in_force
        self._events_topic = events_topic
        self._readers: dict[str, tuple[InForce, EventReader]] = {}

    def topics(self) -> frozenset[str]:
        now = self._in_force()
        topics = followed_topics(now.index.types(), now.around.sources, self._events_topic)
        return topics | {again_topic(self._events_topic)} if topics else topics

    def reader(self, topic: str) -> EventReader:
        """The same object until a document changes."""
        now, known = self._in_force(), self._readers.get(topic)
        if known is None or known[0] is not now:
            form = self._events_topic if topic == again_topic(self._events_topic) else topic
            reader = reader_of(form, now.index.types(), now.around.sources, self._events_topic, self._locate)
            known = self._readers[topic] = now, reader
        return known[1]

    def answering(self, event: Event) -> Sequence[Armed]:
        return self._in_force().index.answering(event)


class Campaigner:
    """The handler of a reader of one topic."""

    def __init__(
        self,
        topic: str,
        topics: CampaignTopics,
        *,
        verdicts: Verdicts,
        cards: Callable[[], CardBook],
        seen: SeenStore,
        quarantine: QuarantinePort,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        self._topic = topic
        self._topics = topics
        self._verdicts = verdicts
        self._cards = cards
        self._seen = seen
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
        seen: list[Event] = []
        candidates = self._candidates(records, aside, seen)
        await self._quarantine.add(aside)
        reached = await self._verdicts.reach(seen, candidates)
        await self._seen.add(seen)
        CAMPAIGN_EVENTS.labels(self._topic, "read").inc(len(records))
        CAMPAIGN_EVENTS.labels(self._topic, "answered").inc(len({run.matched.event.key for run in reached.runs}))
        CAMPAIGN_EVENTS.labels(self._topic, "set_aside").inc(len(aside) + len(reached.aside))
        CAMPAIGN_EVENTS.labels(self._topic, "deferred").inc(len({each.sent for each in reached.later}))

    def _candidates(self, records: Sequence[Record], aside: list[Item], seen: list[Event]) -> list[Candidate]:
        """Raises `Unavailable` when the documents or the cards were never read."""
        reader, cards, now = self._topics.reader(self._topic), self._cards(), self._clock.now()
        candidates: list[Candidate] = []
        for record in records:
            try:
                event = reader.read(record.value, now)
            except SetAside as fault:
                aside.append(event_item(record, fault, reader.kept))
                continue
            if event is None:
                continue
            seen.append(event)
            if not (answering := self._topics.answering(event)):
                continue
            body = reader.kept(record.value)
            origin = origin_of(record.topic, record.partition, record.offset)
            position = Position(record.topic, record.partition, record.offset)
            for armed in answering:
                try:
                    card = cards.in_force(armed.campaign.country, event.occurred_at)
                except SetAside as fault:
                    aside.append(item_of(origin, body, armed.campaign, fault))
                    continue
                candidates.append(Candidate(origin, body, event, armed, card, position))
        return candidates
