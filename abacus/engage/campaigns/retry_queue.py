"""Events that campaigns are decided for later go on the retry queue of campaigns."""

import random
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside
from abacus.engage.campaigns.decide.deferred import ENVELOPE_NAME, Deferred, encode_deferred
from abacus.engage.campaigns.evaluator import Candidate, item_of
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.metrics import RETRIES
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item, deferred_origin
from abacus.platform.sqs.packer import pack
from abacus.platform.sqs.port import Queue
from abacus.signals.events.decide.message import encode_event

_REASON: Final = "an external service, a counter or a server with slices gives no answer"
_attempt: Final = attrgetter("attempt")


class RetryQueue:
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

    async def put(self, later: Sequence[Candidate], before: Mapping[tuple[str, str], Deferred] | None = None) -> None:
        """Returns when all are durable: on the queue, or set aside. `before` has the events that came from the queue,
        by the `sent` of their candidates. Raises `Unavailable`.
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
