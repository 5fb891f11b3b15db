"""Services are asked over HTTP: many events in one call, each once, at their pace, and not while they are down."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from abacus.core.clock import SystemClock
from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind, Otherwise, Service
from abacus.engage.downstreams.decide.question import LONGEST_ANSWER, NoAnswer, read_answer
from abacus.engage.downstreams.services import FIRST_S, TRIES, Services
from abacus.engage.downstreams.store import Signed
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.delivery.post import Poster
from abacus.platform.encryption import Secrets
from abacus.platform.health import Health
from abacus.platform.pace.decide.pace import Pace, Rate
from abacus.platform.postgres import Pool
from abacus.signals.events.types import Event, Value, VariableType
from abacus.signals.facts.types import NOT_NOW
from tests.support.fixed_clock import FixedClock
from tests.support.receiver import Receiver, receiving

SECRET = new_secret()
INTEGERS = Service(VariableType.INTEGER, timedelta(seconds=5), 3, Otherwise.FALSE)


def risk(url: str, service: Service = INTEGERS, pace: Pace | None = None) -> Downstream:
    return Downstream("risk", DownstreamKind.EXTERNAL, url, service, pace=pace)


def event(number: int) -> Event:
    at = datetime(2026, 11, 23, 12, tzinfo=UTC)
    return Event("rides", "ride.done", str(number), "bob", "SG", at, {"km": Decimal(number)})


class Asking:
    """A poster to a receiver that answers with the number of each event."""

    def __init__(self, pool: Pool, receiver: Receiver, downstream: Downstream) -> None:
        self.receiver = receiver
        self.poster = Poster(to_private=True, at_once=8, whole_up_to=LONGEST_ANSWER)
        signed = {"risk": Signed(downstream, SECRET, None)}
        self.health, self.clock = Health(()), FixedClock(datetime(2026, 11, 23, 12, tzinfo=UTC))
        self.services = Services(lambda: signed, self.poster, pool, self.clock, Secrets(), health=self.health)

    async def ask(self, *numbers: int) -> Sequence[object]:
        return await self.services.ask("risk", [event(number) for number in numbers])

    def answers(self, *values: object) -> None:
        body = json.dumps({"answers": values})
        self.receiver.answers("200 OK", body=body)


async def test_events_are_asked_about_together_each_once_and_signed(pool: Pool) -> None:
    async with receiving() as receiver:
        asking = Asking(pool, receiver, risk(receiver.url))
        asking.answers(7, None, 9)
        assert await asking.ask(1, 2, 1, 3, 2) == [7, None, 7, 9, None]
        await asking.poster.close()
    (request,) = receiver.requests
    assert request.is_signed_with(SECRET)
    assert (request.json["type"], request.json["service"]) == ("abacus.ask", "risk")
    assert [each["id"] for each in request.json["asks"]] == ["1", "2", "3"]
    assert request.json["asks"][0]["member_id"] == "bob"


async def test_no_call_has_more_events_than_it_may(pool: Pool) -> None:
    async with receiving() as receiver:
        asking = Asking(pool, receiver, risk(receiver.url, replace(INTEGERS, at_once=2)))
        asking.answers(1, 1)
        assert await asking.ask(*range(8)) == [1] * 8
        await asking.poster.close()
    assert sorted(len(request.json["asks"]) for request in receiver.requests) == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("500 Oops", ""),
        ("302 Found", ""),
        ("200 OK", "no json"),
        ("200 OK", '{"answers": [1, 2]}'),
        ("200 OK", '{"answers": ["one"]}'),
        ("200 OK", "[1]"),
        ("200 OK", '{"answers": [1], "more": "' + "x" * LONGEST_ANSWER + '"}'),
    ],
)
@pytest.mark.parametrize(("otherwise", "value"), [(Otherwise.FALSE, None), (Otherwise.WAIT, NOT_NOW)])
async def test_without_an_answer_the_policy_says_what_holds(
    pool: Pool, status: str, body: str, otherwise: Otherwise, value: object
) -> None:
    async with receiving() as receiver:
        asking = Asking(pool, receiver, risk(receiver.url, replace(INTEGERS, otherwise=otherwise)))
        receiver.answers(status, body=body)
        assert await asking.ask(1) == [value]
        await asking.poster.close()


async def test_a_slow_service_is_not_waited_for(pool: Pool) -> None:
    async with receiving() as receiver:
        slow = replace(INTEGERS, within=timedelta(milliseconds=50))
        asking = Asking(pool, receiver, risk(receiver.url, slow))
        receiver.goes_on.clear()
        async with asyncio.timeout(5):
            assert await asking.ask(1) == [None]
        await asking.poster.close()


async def test_a_service_that_is_down_is_left_alone_for_a_while(pool: Pool) -> None:
    async with receiving() as receiver:
        asking = Asking(pool, receiver, risk(receiver.url))
        receiver.answers("500 Oops")
        for number in range(TRIES + 3):
            assert asking.health.missed.keys() == ({"service risk"} if number >= TRIES else set())
            assert await asking.ask(1) == [None]
        assert len(receiver.requests) == TRIES
        asking.clock.set(asking.clock.now() + timedelta(seconds=FIRST_S))
        asking.answers(3)
        assert await asking.ask(1) == [3]
        assert asking.health.missed == {}
        await asking.poster.close()


@pytest.mark.parametrize(
    "downstream", [None, Downstream("risk", DownstreamKind.EXTERNAL, "https://x", INTEGERS, retired=True)]
)
async def test_a_service_that_is_not_there_any_more_has_no_values(pool: Pool, downstream: Downstream | None) -> None:
    signed = {} if downstream is None else {"risk": Signed(downstream, None, None)}
    poster = Poster(to_private=True, at_once=1)
    services = Services(lambda: signed, poster, pool, SystemClock(), Secrets())
    assert await services.ask("risk", [event(1), event(2)]) == [None, None]
    await poster.close()


@pytest.mark.parametrize(("step", "value", "calls"), [(timedelta(hours=1), None, 1), (None, None, 0)])
async def test_a_pace_that_allows_no_call_in_time_is_no_answer(
    pool: Pool, step: timedelta | None, value: Value | None, calls: int
) -> None:
    async with receiving() as receiver:
        asking = Asking(pool, receiver, risk(receiver.url, pace=Pace([Rate(step)], ZoneInfo("UTC"))))
        asking.answers(5)
        first, second = await asking.ask(1), await asking.ask(2)
        await asking.poster.close()
    assert (len(receiver.requests), list(second)) == (calls, [value])
    assert list(first) == [5 if calls else None]


@pytest.mark.parametrize(
    ("body", "type_", "values"),
    [
        (b'{"answers": ["1.50", 2, null]}', VariableType.DECIMAL, [Decimal("1.50"), Decimal(2), None]),
        (b'{"answers": [true, false, null]}', VariableType.BOOLEAN, [True, False, None]),
        (b'{"answers": ["a", "b", "c"]}', VariableType.TEXT, ["a", "b", "c"]),
    ],
)
def test_answers_are_read_by_the_type_of_the_service(body: bytes, type_: VariableType, values: list[Value]) -> None:
    assert read_answer(body, type_, 3) == values


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{", "no JSON"),
        (b"[]", "no answers, and 3 were asked for"),
        (b'{"answers": 3}', "no answers"),
        (b'{"answers": [1]}', "1 answers, and 3 were asked for"),
        (b'{"answers": [1, "2", 3]}', "not an integer of 64 bits"),
    ],
)
def test_an_answer_that_cannot_be_read_says_why(body: bytes, why: str) -> None:
    with pytest.raises(NoAnswer, match=why):
        read_answer(body, VariableType.INTEGER, 3)
