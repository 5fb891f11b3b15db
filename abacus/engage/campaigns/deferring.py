"""Events that campaigns are decided for later: on the retry queue of campaigns, and back from it."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside
from abacus.core.sources import campaign_source
from abacus.core.vouching import Verifier, check_vouched
from abacus.engage.campaigns.decide.deferred import ENVELOPE_NAME, Deferred, decode_deferred, encode_deferred
from abacus.engage.campaigns.directory import InForce
from abacus.engage.campaigns.effects import Decisions, Effects
from abacus.engage.campaigns.judging import Candidate, Judged, Judging, in_waves, item_of
from abacus.engage.events.decide.message import encode_event
from abacus.engage.events.decide.reading import own_reader
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.platform.metrics import CAMPAIGN_RUNS, RETRIES
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import CAMPAIGN_RETRY_QUEUE, Item, Stage, deferred_origin
from abacus.platform.sqs.packing import pack
from abacus.platform.sqs.port import Queue, Received
from abacus.pricing.decide.book import CardBook

_REASON: Final = "an external service, a counter or a server with slices gives no answer"
_attempt: Final = attrgetter("attempt")


class Deferring:
    """Puts events on the retry queue, each time with a longer delay, until it has taken too long."""

    def __init__(
        self,
        queue: Queue,
        quarantine: QuarantinePort,
        policy: RetryPolicy,
        *,
        events_topic: str,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        """`events_topic` has events in the form that they have on the queue."""
        self._queue = queue
        self._events_topic = events_topic
        self._quarantine = quarantine
        self._policy = policy
        self._clock = clock
        self._rng = rng

    async def defer(self, later: Sequence[Candidate], before: Mapping[tuple[str, str], Deferred] | None = None) -> None:
        """Returns when all are durable: on the queue, or set aside. `before` has those that came from the queue, by
        what their candidates were `sent` as. Raises `Unavailable`.
        """
        now = self._clock.now()
        aside: list[Item] = []
        deferred: list[Deferred] = []
        by_event: dict[tuple[str, str], list[Candidate]] = {}
        for each in later:
            by_event.setdefault(each.sent, []).append(each)
        for sent, of_event in by_event.items():
            earlier = (before or {}).get(sent)
            first_failed_at = earlier.first_failed_at if earlier is not None else now
            attempt = earlier.attempt + 1 if earlier is not None else 1
            if self._policy.exhausted(first_failed_at, now):
                detail = f"{attempt} attempts since {first_failed_at.isoformat()}; {_REASON}"
                fault = SetAside(Reason.RETRIES_EXHAUSTED, detail)
                aside += [item_of(each.origin, each.body, each.armed.campaign, fault) for each in of_event]
                continue
            names = tuple(sorted(each.armed.campaign.name for each in of_event))
            event = of_event[0].event
            origin = deferred_origin(self._events_topic, event.key)
            body = encode_event(event)
            deferred.append(Deferred(body, origin, names, attempt, first_failed_at, _REASON, of_event[0].position))
        await self._quarantine.add(aside)
        for attempt, together in groupby(sorted(deferred, key=_attempt), key=_attempt):
            bodies = list(pack(ENVELOPE_NAME, map(encode_deferred, together)))
            await self._queue.send(bodies, delay_s=self._policy.delay_s(attempt, self._rng))
        RETRIES.labels("external").inc(len(deferred))


class Redeciding:
    """Handles messages of the retry queue: decides each event again, for the campaigns that waited."""

    def __init__(
        self,
        in_force: Callable[[], InForce],
        *,
        judging: Judging,
        effects: Effects,
        deferring: Deferring,
        cards: Callable[[], CardBook],
        quarantine: QuarantinePort,
        verifier: Verifier,
        clock: Clock,
    ) -> None:
        self._in_force = in_force
        self._judging = judging
        self._effects = effects
        self._deferring = deferring
        self._cards = cards
        self._quarantine = quarantine
        self._verifier = verifier
        self._clock = clock

    async def handle(self, received: Sequence[Received]) -> Sequence[Received]:
        """Raises `Unavailable`."""
        deferred: list[Deferred] = []
        unreadable: list[Item] = []
        for envelope in received:
            try:
                deferred += self._opened(envelope.body)
            except SetAside as fault:
                unreadable.append(Item.of(Stage.ENVELOPE, CAMPAIGN_RETRY_QUEUE, envelope.body.encode(), fault))
        await self._quarantine.add(unreadable)
        aside: list[Item] = []
        before: dict[tuple[str, str], Deferred] = {}
        waves = in_waves(list(self._candidates(deferred, before, aside)))
        await self._quarantine.add(aside)
        for candidates in waves:
            judged = await self._judging.judge(candidates)
            await self._quarantine.add(judged.aside)
            decided = await self._effects.decide(judged.matched)
            for run in decided.runs:
                CAMPAIGN_RUNS.labels(run.outcome.value).inc()
            await self._deferring.defer(put_off(candidates, judged, decided), before)
        return received

    def _opened(self, body: str) -> Sequence[Deferred]:
        """Raises `SetAside` when the envelope cannot be read, or nobody vouches for all of it."""
        producer = self._verifier.producer_of(body)
        deferred = decode_deferred(body)
        if producer is not None:
            check_vouched(producer, {campaign_source(name) for each in deferred for name in each.campaigns})
        return deferred

    def _candidates(
        self, deferred: Iterable[Deferred], before: dict[tuple[str, str], Deferred], aside: list[Item]
    ) -> Iterable[Candidate]:
        """Those of campaigns that are still in force. Raises `Unavailable` when they were never read."""
        now, cards = self._in_force(), self._cards()
        reader = own_reader(now.sources.values())
        for each in deferred:
            try:
                event = reader.read(each.event, self._clock.now())
            except SetAside as fault:
                aside.append(Item.of(Stage.EVENT, each.origin, each.event, fault))
                continue
            if event is None:
                continue
            for armed in now.running.answering(event):
                if armed.campaign.name not in each.campaigns:
                    continue
                try:
                    card = cards.in_force(armed.campaign.country, event.occurred_at)
                except SetAside as fault:
                    aside.append(item_of(each.origin, each.event, armed.campaign, fault))
                    continue
                candidate = Candidate(each.origin, each.event, event, armed, card, each.position)
                before[candidate.sent] = each
                yield candidate


def put_off(candidates: Iterable[Candidate], judged: Judged, decided: Decisions) -> list[Candidate]:
    """The candidates that could not be judged or decided now, in their order."""
    late = {(each.key, each.subject.member_id) for each in judged.later}
    late |= {(each.key, each.member_id) for each in decided.waiting}
    return [each for each in candidates if (each.key, each.subject.member_id) in late] if late else []
