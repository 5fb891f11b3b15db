"""Asks services about events: many in one call, each event once, at the service's pace, and not while it is down."""

import asyncio
import secrets as random_secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Protocol

import structlog

from abacus.core.clock import Clock
from abacus.engage.downstreams.decide.downstream import Downstream, Otherwise, Service
from abacus.engage.downstreams.decide.question import NoAnswer, question, read_answer
from abacus.engage.downstreams.metrics import SERVICE_CALLS, SERVICE_SECONDS
from abacus.engage.downstreams.store import ByName, Signed, valid_secrets
from abacus.platform.delivery.decide.reply import Reply
from abacus.platform.delivery.decide.signature import signed_headers
from abacus.platform.delivery.types import Said
from abacus.platform.encryption import Secrets, SecretUnreadable
from abacus.platform.health import Health
from abacus.platform.pace.turns import take_turns
from abacus.platform.postgres import Pool
from abacus.platform.reading.breaker import Breaker
from abacus.platform.reading.decide.circuit import Patience
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.types import NOT_NOW, NotNow

CALLS_AT_ONCE: Final = 4  # to one service, of one process
TRIES: Final = 5  # that fail in a row before the service is left alone
FIRST_S: Final = 5.0  # it is left alone for so long, and twice as long each time
LONGEST_S: Final = 60.0

log = structlog.get_logger(__name__)


class Post(Protocol):
    """Sends to a receiver, and reads what it answers."""

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, within_s: float | None = None
    ) -> Reply: ...


class Services:
    """Each process keeps its own count of a service's failures, and its health tells which it leaves alone."""

    def __init__(
        self,
        downstreams: Callable[[], ByName],
        poster: Post,
        pool: Pool,
        clock: Clock,
        secrets: Secrets,
        *,
        health: Health | None = None,
    ) -> None:
        self._downstreams = downstreams
        self._poster = poster
        self._pool = pool
        self._clock = clock
        self._secrets = secrets
        self._health = health or Health(())
        self._breakers: dict[str, Breaker] = {}

    async def ask(self, name: str, events: Sequence[Event]) -> Sequence[Value | NotNow | None]:
        """The service's value for each event, in their order. Where it gives none, its policy says what that means:
        a missing value, or a value that cannot be told now. Raises `Unavailable` while the database is away.
        """
        signed = self._downstreams().get(name)
        service = signed.downstream.service if signed is not None else None
        if signed is None or service is None or signed.downstream.retired:
            self._health.regained(dependency_of(name))
            return [None] * len(events)
        once: dict[str, Event] = {}
        for event in events:
            once.setdefault(event.key, event)
        limit = asyncio.Semaphore(CALLS_AT_ONCE)

        async def part(some: Sequence[Event]) -> list[Value | NotNow | None]:
            async with limit:
                return await self._values(signed, service, some)

        parts = list(_parts(list(once.values()), service.at_once))
        answers = await asyncio.gather(*map(part, parts))
        found = {
            event.key: value
            for some, values in zip(parts, answers, strict=True)
            for event, value in zip(some, values, strict=True)
        }
        return [found[event.key] for event in events]

    async def _values(self, signed: Signed, service: Service, events: Sequence[Event]) -> list[Value | NotNow | None]:
        name = signed.downstream.name
        breaker = self._breaker_of(name)
        if not breaker.lets_through():
            SERVICE_CALLS.labels(name, "not_asked").inc()
            return _otherwise(service, len(events))
        began = time.perf_counter()
        try:
            await self._turn(signed.downstream, service)
            values = await self._asked(signed, service, events)
        except NoAnswer as fault:
            breaker.failed(str(fault))
            SERVICE_CALLS.labels(name, "failed").inc()
            log.warning("service gives no answer", service=name, why=str(fault), failures=breaker.failures)
            return _otherwise(service, len(events))
        breaker.succeeded()
        SERVICE_CALLS.labels(name, "answered").inc()
        SERVICE_SECONDS.labels(name).observe(time.perf_counter() - began)
        return [*values]

    def _breaker_of(self, name: str) -> Breaker:
        if name not in self._breakers:
            self._breakers[name] = Breaker(
                dependency_of(name),
                Patience(TRIES, FIRST_S, LONGEST_S),
                clock_s=lambda: self._clock.now().timestamp(),
                health=self._health,
            )
        return self._breakers[name]

    async def _turn(self, downstream: Downstream, service: Service) -> None:
        """Returns when the pace allows a call. Raises `NoAnswer` when that takes longer than a call may."""
        if downstream.pace is None:
            return
        ends = self._clock.now() + service.within
        while True:
            now = self._clock.now()
            given = await take_turns(self._pool, downstream.paced_as, downstream.pace, now, 1)
            if given.turns:
                return
            if not given.step or given.first_at > ends:
                raise NoAnswer("its pace allows no call now")
            await asyncio.sleep((given.first_at - now).total_seconds())

    async def _asked(self, signed: Signed, service: Service, events: Sequence[Event]) -> list[Value | None]:
        downstream, now = signed.downstream, self._clock.now()
        body = question(downstream.name, events, now)
        try:
            valid = await valid_secrets(self._secrets, signed)
        except SecretUnreadable as fault:
            raise NoAnswer(str(fault)) from None
        headers = signed_headers(valid, f"ask_{random_secrets.token_hex(12)}", int(now.timestamp()), body)
        within_s = service.within.total_seconds()
        reply = await self._poster.post(downstream.url or "", headers, body, within_s=within_s)
        if reply.said is not Said.ACCEPTED:
            raise NoAnswer(reply.detail)
        return read_answer(reply.body, service.answers, len(events))


def dependency_of(service: str) -> str:
    """What health calls it."""
    return f"service {service}"


def _otherwise(service: Service, events: int) -> list[Value | NotNow | None]:
    return [NOT_NOW if service.otherwise is Otherwise.WAIT else None] * events


def _parts(events: Sequence[Event], at_most: int) -> Iterator[Sequence[Event]]:
    rest = iter(events)
    while some := list(islice(rest, at_most)):
        yield some
