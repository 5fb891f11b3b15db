"""Campaigns that call webhooks and ask services, on the real stack."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from abacus.core.clock import SystemClock
from abacus.engage.downstreams.decide.downstream_document import parse_downstream
from abacus.engage.downstreams.store import DownstreamStore
from abacus.platform.delivery.decide.signature import new_secret
from tests.support.downstreams import publish_downstream
from tests.support.house import House, completed, until
from tests.support.receiver import Receiver, receiving
from tests.support.running_campaigns import just_now, run_campaign

POINTS = {"award": {"points": 500}}
GOLD = {"operator": "gte", "lhs": "external.risk", "rhs": 5}


async def publish(house: House, document: dict[str, Any]) -> str:
    """Its secret."""
    secret, now = new_secret(), SystemClock().now()
    downstream = parse_downstream(document, to_private=True)
    await publish_downstream(house.pool, downstream, secret, now)
    return secret


def webhook(receiver: Receiver, **fields: Any) -> dict[str, Any]:
    return {"name": "coupons", "kind": "webhook", "url": receiver.url, **fields}


def service(receiver: Receiver, otherwise: str) -> dict[str, Any]:
    return {"name": "risk", "kind": "external", "url": receiver.url, "type": "integer", "otherwise": otherwise}


def answering(receiver: Receiver, *values: object) -> None:
    receiver.answers("200 OK", body=json.dumps({"answers": values}))


@asynccontextmanager
async def at_work(house: House, *others: str) -> AsyncIterator[None]:
    settings = house.settings.model_copy(update={"webhooks_to_private": True})
    async with house.running("campaigner", *others, settings=settings):
        yield


def order(number: int, member_id: str = "ann") -> dict[str, Any]:
    return completed(number, member_id=member_id, occurred_at=just_now())


async def actions(house: House, column: str) -> int:
    return int(await house.pool.fetchval(f"select count(*) from action where {column} is not null"))


async def test_a_webhook_is_called_with_the_event_and_again_until_it_accepts(house: House) -> None:
    async with receiving() as receiver:
        receiver.answers("503 Busy", "retry-after: 0")
        secret = await publish(house, webhook(receiver))
        label = await run_campaign(house, steps=[{"do": [{"call": "coupons"}, POINTS]}])
        await house.produce([order(1)])
        async with at_work(house, "awarder"):

            async def refused() -> bool:
                return bool(receiver.requests)

            await until(refused)
            receiver.answers("204 No Content")
            await house.pool.execute("update action set due_at = now() where due_at < now() + interval '1 day'")

            async def done() -> bool:
                return await actions(house, "done_at") == 2 and await house.transfers() == 1

            await until(done)
    requests = receiver.requests
    assert len({request.id for request in requests}) == 1
    assert all(request.is_signed_with(secret) for request in requests)
    message = requests[-1].json
    assert message["type"] == "campaign.action"
    told = message["data"]
    assert (f"{told['campaign']}@{told['version']}", told["member_id"], told["step"]) == (label, "ann", 1)
    assert told["event"]["type"] == "transaction.completed"


@pytest.mark.long
async def test_a_guard_is_looked_at_before_a_call(house: House) -> None:
    never = {"call": "coupons", "after": "1s", "unless": {"operator": "eq", "lhs": "var.country", "rhs": "SG"}}
    always = {"call": "coupons", "after": "1s", "if_still": {"operator": "eq", "lhs": "var.country", "rhs": "SG"}}
    async with receiving() as receiver:
        await publish(house, webhook(receiver))
        await run_campaign(house, steps=[{"do": [never, always]}])
        await house.produce([order(1)])
        async with at_work(house):

            async def ended() -> bool:
                return await actions(house, "coalesce(done_at, refused_at)") == 2

            await until(ended)
    assert len(receiver.requests) == 1
    assert await house.pool.fetchval("select reason from action where refused_at is not null") == "unless"


async def test_a_retired_webhook_gets_nothing(house: House) -> None:
    async with receiving() as receiver:
        await publish(house, webhook(receiver))
        await run_campaign(house, steps=[{"do": [{"call": "coupons"}]}])
        await DownstreamStore(house.pool).retire("coupons", by="tests", now=SystemClock().now())
        await house.produce([order(1)])
        async with at_work(house):

            async def refused() -> bool:
                return await actions(house, "refused_at") == 1

            await until(refused)
    assert receiver.requests == []
    reason = await house.pool.fetchval("select reason from action")
    assert reason == "the webhook coupons is retired"


async def test_points_follow_from_what_a_service_says(house: House) -> None:
    async with receiving() as receiver:
        answering(receiver, 7)
        await publish(house, service(receiver, "false"))
        await run_campaign(house, when=GOLD, steps=[{"do": [POINTS]}])
        await house.produce([order(1)])
        async with at_work(house, "awarder"):

            async def posted() -> bool:
                return await house.transfers() == 1

            await until(posted)
    explanation = json.loads(await house.pool.fetchval("select explanation from transfer"))
    assert explanation["conditions"] == [["external.risk gte 5", "7"]]


async def test_while_a_service_gives_no_answer_its_condition_is_false(house: House) -> None:
    async with receiving() as receiver:
        receiver.answers("500 Oops")
        await publish(house, service(receiver, "false"))
        either = {"operator": "or", "conditions": [GOLD, {"operator": "eq", "lhs": "member.tier", "rhs": "member"}]}
        both = {"operator": "and", "conditions": [GOLD, {"operator": "eq", "lhs": "member.tier", "rhs": "member"}]}
        await run_campaign(house, name="either", when=either, steps=[{"do": [POINTS]}])
        await run_campaign(house, name="both", when=both, steps=[{"do": [POINTS]}])
        await house.produce([order(1)])
        async with at_work(house, "awarder"):

            async def posted() -> bool:
                return await house.transfers() == 1 and bool(receiver.requests)

            await until(posted)
    assert await house.pool.fetchval("select source from transfer") == "campaign:either"


@pytest.mark.long
async def test_who_waits_for_a_service_is_decided_when_it_answers(house: House) -> None:
    """Of a group, what comes behind the one that waits waits too, and nothing is done twice."""
    async with receiving() as receiver:
        receiver.answers("500 Oops")
        await publish(house, service(receiver, "wait"))
        await run_campaign(house, name="first", priority=2, exclusive="g", when=GOLD, steps=[{"do": [POINTS]}])
        await run_campaign(house, name="second", priority=1, exclusive="g", steps=[{"do": [POINTS]}])
        await run_campaign(house, name="third", steps=[{"do": [POINTS]}])
        await house.produce([order(1), order(1)])
        async with at_work(house, "awarder"):

            async def third() -> bool:
                return await house.transfers() == 1 and bool(receiver.requests)

            await until(third)
            answering(receiver, 7)

            async def first() -> bool:
                return await house.transfers() == 2

            await until(first, within_s=60)
    rows = await house.pool.fetch("select source from transfer order by source")
    assert [row["source"] for row in rows] == ["campaign:first", "campaign:third"]
    assert await house.reasons() == {}


@pytest.mark.long
async def test_only_who_waited_is_decided_later(house: House) -> None:
    """The member is rich enough for the other campaign by then, and was not when the event came."""
    rich = {"operator": "gte", "lhs": "member.balance", "rhs": 500}
    async with receiving() as receiver:
        receiver.answers("500 Oops")
        await publish(house, service(receiver, "wait"))
        await run_campaign(house, name="waiting", when=GOLD, steps=[{"do": [POINTS]}])
        await run_campaign(house, name="rich", when=rich, steps=[{"do": [POINTS]}])
        await run_campaign(house, name="always", steps=[{"do": [POINTS]}])
        await house.produce([order(1)])
        async with at_work(house, "awarder"):

            async def always() -> bool:
                return await house.transfers() == 1 and bool(receiver.requests)

            await until(always)
            answering(receiver, 7)

            async def waiting() -> bool:
                return await house.transfers() == 2

            await until(waiting, within_s=60)
    rows = await house.pool.fetch("select source from transfer order by source")
    assert [row["source"] for row in rows] == ["campaign:always", "campaign:waiting"]
    assert await house.pool.fetchval("select count(*) from campaign_claim where campaign = 'rich'") == 0


@pytest.mark.long
async def test_who_waited_too_long_is_set_aside(house: House) -> None:
    async with receiving() as receiver:
        receiver.answers("500 Oops")
        await publish(house, service(receiver, "wait"))
        await run_campaign(house, when=GOLD, steps=[{"do": [POINTS]}])
        await house.produce([order(1)])
        quick = house.settings.model_copy(update={"webhooks_to_private": True, "retry_hours": 1 / 3600})
        async with house.running("campaigner", settings=quick):

            async def aside() -> bool:
                return bool(await house.reasons())

            await until(aside, within_s=60)
    assert await house.reasons() == {"retries-exhausted": 1}


async def test_awards_leave_at_the_pace_of_their_downstream(house: House) -> None:
    await publish(house, {"name": "awards", "kind": "own", "pace": "1/h"})
    await run_campaign(house, steps=[{"do": [POINTS]}])
    async with at_work(house, "awarder"):
        await house.produce([order(number) for number in range(1, 6)])

        async def one() -> bool:
            return await house.transfers() == 1

        await until(one)
        assert await actions(house, "key") == 5
        now = SystemClock().now() + timedelta(seconds=0)
        faster = parse_downstream({"name": "awards", "kind": "own", "pace": "1000/s"}, to_private=True)
        await publish_downstream(house.pool, faster, new_secret(), now)

        async def all_() -> bool:
            return await house.transfers() == 5

        await until(all_)
