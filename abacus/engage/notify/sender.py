"""Sending what is due over one channel, at its pace. Channels know nothing of each other, so one that is down holds up
no other; and each message is tried again by itself, so one that fails holds up no other member.
"""

import asyncio
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog
from pydantic import ValidationError

from abacus.core.backoff import Backoff
from abacus.core.clock import Clock
from abacus.engage.notify.channels.port import Channel
from abacus.engage.notify.decide.message import Outgoing
from abacus.engage.notify.decide.outcome import BACKOFF, Answer, Outcome, Said, Verdict, verdict
from abacus.engage.notify.decide.pace import Pace
from abacus.engage.notify.decide.part import PARTS
from abacus.engage.notify.outbox import Outbox, Taken
from abacus.engage.notify.templates import Templates, Unrenderable, words_of
from abacus.platform.health import WorkerHealth
from abacus.platform.metrics import NOTIFICATIONS
from abacus.platform.patience import unless_stopped, until_available

HANDS: Final = 4  # while one waits for a slow answer, the others go on
BATCH: Final = 25
_IDLE_S: Final = 0.2
_TAKE_WITHIN_S: Final = 3.0
_DRAIN_S: Final = 20.0  # a turn begins within a second, and a try takes less

log = structlog.get_logger(__name__)


class Sender:
    """One for each channel and process; any number of processes share the work and the pace."""

    def __init__(
        self,
        channel: Channel,
        templates: Templates,
        outbox: Outbox,
        pace: Pace,
        *,
        clock: Clock,
        health: WorkerHealth,
        park_after: timedelta,
        rng: random.Random,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self._channel = channel
        self._templates = templates
        self._outbox = outbox
        self._pace = pace
        self._clock = clock
        self._health = health
        self._park_after = park_after
        self._rng = rng
        self._backoff = backoff

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; then what is in hand is finished, or left to be sent again."""
        async with asyncio.TaskGroup() as hands:
            for _ in range(HANDS):
                hands.create_task(self._hand(stop))

    async def _hand(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            taking = until_available(self._take, self._health)
            taken = await unless_stopped(taking, stop, grace_s=_TAKE_WITHIN_S)
            if taken:
                await unless_stopped(self._send_all(taken), stop, grace_s=_DRAIN_S)
            else:
                await unless_stopped(asyncio.sleep(_IDLE_S), stop)

    async def _take(self) -> list[Taken]:
        taken = await self._outbox.take(self._channel.name, self._pace, most=BATCH)
        self._health.ready()
        return taken

    async def _send_all(self, taken: Sequence[Taken]) -> None:
        answers = await asyncio.gather(*map(self._send, taken))
        now = self._clock.now()
        settled = [(each, self._verdict(each, answer, now)) for each, answer in zip(taken, answers, strict=True)]
        await until_available(lambda: self._outbox.settle(self._channel.name, settled), self._health)
        for each, found in settled:
            NOTIFICATIONS.labels(self._channel.name, found.outcome).inc()
            if found.outcome is Outcome.PARKED:
                log.warning("notification parked", channel=self._channel.name, id=each.message_id, why=found.reason)

    async def _send(self, taken: Taken) -> Answer:
        await asyncio.sleep(max(0.0, (taken.start_at - self._clock.now()).total_seconds()))
        try:
            parts = PARTS.validate_json(taken.parts)
            words = words_of(self._templates, parts, taken.locale)
        except Unrenderable as fault:
            return Answer(Said.REFUSED, str(fault))
        except ValidationError:
            return Answer(Said.REFUSED, "this version of Abacus cannot read it")
        outgoing = Outgoing(taken.member_id, taken.message_id, taken.locale, words, parts, taken.created_at)
        return await self._channel.send(outgoing)

    def _verdict(self, taken: Taken, answer: Answer, now: datetime) -> Verdict:
        return verdict(
            answer,
            now,
            attempts=taken.attempts,
            failing_since=taken.failing_since,
            park_after=self._park_after,
            rng=self._rng,
            backoff=self._backoff,
        )
