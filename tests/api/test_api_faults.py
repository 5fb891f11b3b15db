"""When parts are down: awards go on without the database, and nothing is half accepted without the queue."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Literal

import httpx
import pytest

from abacus.api.wiring import Patience
from abacus.core.clock import SystemClock
from abacus.intake.earning.decide.source_message import SourceMessage
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.register import AwardStatus, Reception, Register, RegisterAnswer
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from abacus.programs.tiers.store import MembershipStore
from tests.ledger.ledgers import award as contract_award
from tests.support.cluster import Servers
from tests.support.commands import abacus
from tests.support.fixed_clock import FixedClock
from tests.support.house import House, until
from tests.support.problems import kind
from tests.support.proxy import Proxy, proxied
from tests.support.shop import GRANT, MEAL, award, register, shop

TIERS_ARE_READ = "the proxy is the coordinator's, and tiers are read at the servers of the slices"


@asynccontextmanager
async def acme_behind(
    house: House, setting: Literal["database_url", "sqs_endpoint_url"], patience: Patience | None = None
) -> AsyncIterator[tuple[Proxy, httpx.AsyncClient]]:
    """A proxy in front of one of the API's services, and a partner that calls the API."""
    key = await register(house)
    async with (
        proxied(getattr(house.settings, setting)) as (proxy, address),
        shop(house, settings=house.settings.model_copy(update={setting: address}), patience=patience) as opened,
    ):
        yield proxy, await opened.caller(key)


@pytest.mark.long
async def test_awards_are_accepted_while_postgres_is_away(house: House, servers: Servers) -> None:
    async with acme_behind(house, "database_url") as (proxy, acme):
        assert (await award(acme, "before")).status_code == 202
        await proxy.cut()
        accepted = await asyncio.gather(*(award(acme, f"k{n}", {**GRANT, "member_id": f"m{n}"}) for n in range(30)))
        assert {answer.status_code for answer in accepted} == {202}
        again = await award(acme, "k3", {**GRANT, "member_id": "m3"})
        assert (again.status_code, again.headers["idempotency-replayed"]) == (202, "true")
        other = await award(acme, "k3")
        assert (other.status_code, kind(other)) == (422, "idempotency-key-reused")
        for path in ("/v1/members/bob", f"/v1/awards/{accepted[0].json()['award_id']}"):
            answer = await acme.get(path)
            if not (servers.are_several and path.endswith("bob")):  # he may be read at his slice's server
                assert (answer.status_code, kind(answer)) == (503, "unavailable")
                assert int(answer.headers["retry-after"]) > 0
        quoted = await acme.post("/v1/quotes", json={"member_id": "bob", "transaction": MEAL})
        assert servers.are_several or (quoted.status_code, kind(quoted)) == (503, "unavailable")

        async def missed() -> bool:
            ready = await acme.get("/readyz")
            return ready.status_code == 200 and "database" in ready.json()["without"]

        await until(missed)
        assert (await acme.get("/healthz")).status_code == 200
        await proxy.mend()

        async def registered() -> bool:
            return bool(await house.pool.fetchval("select count(*) from partner_award") == 31)

        await until(registered)
        state = await acme.get(f"/v1/awards/{accepted[0].json()['award_id']}")
        assert (state.status_code, state.json()["status"]) == (200, "queued")
    async with house.running("awarder"):
        await until(lambda: _transfers(house, 31))


@pytest.mark.long
async def test_a_database_that_goes_silent_holds_up_few_and_not_for_long(house: House, servers: Servers) -> None:
    """The service neither answers nor refuses. One round of calls learns that; later rounds do not wait for it."""
    async with acme_behind(house, "database_url", Patience(database_s=1.0)) as (proxy, acme):
        assert (await award(acme, "before")).status_code == 202
        proxy.silence()
        async with asyncio.timeout(20):
            assert (await award(acme, "first")).status_code == 202
        began = time.monotonic()
        for number in range(20):
            assert (await award(acme, f"k{number}")).status_code == 202
        assert time.monotonic() - began < 10, "each would have waited two seconds"
        async with asyncio.timeout(20):
            answer = await acme.get("/v1/members/bob")
        assert servers.are_several or (answer.status_code, kind(answer)) == (503, "unavailable")

        async def missed() -> bool:
            return "database" in (await acme.get("/readyz")).json()["without"]

        await until(missed, within_s=20)
        proxy.speak()

        await until(lambda: _registered(house, 22))


@pytest.mark.long
async def test_a_queue_that_goes_silent_refuses_in_time(house: House) -> None:
    async with acme_behind(house, "sqs_endpoint_url", Patience(queue_s=0.5)) as (proxy, acme):
        proxy.silence()
        async with asyncio.timeout(20):
            answers = await asyncio.gather(*(award(acme, f"k{number}") for number in range(20)))
        assert {(answer.status_code, kind(answer)) for answer in answers} == {(503, "unavailable")}
        proxy.speak()

        async def accepted() -> bool:
            return (await award(acme, "k0")).status_code == 202

        await until(accepted)


async def test_a_guess_that_never_left_is_not_sent_later(house: House) -> None:
    """Bob is platinum. His tier could not be read, nor his award sent to the retry queue; he gets all on a retry."""
    register_, clock = Register(house.pool, SystemClock()), SystemClock()
    guessed, known = (
        Entry.of("acme", contract_award(key="api:acme:k", points=points, explanation=b'{"points":%d}' % points))
        for points in (60, 180)
    )
    guessed = guessed._replace(to_compute=SourceMessage(b"{}", "api:acme:k by SG@1"))
    assert await register_.take([guessed]) == {
        guessed.award_id: RegisterAnswer(Reception.OURS, guessed.award, provisional=True)
    }
    assert (await register_.states([guessed.award_id]))[guessed.award_id].provisional
    assert (await register_.take([known]))[known.award_id].reception is Reception.IN_FLIGHT
    await register_.release([guessed.award_id])
    assert await register_.states([guessed.award_id]) == {}
    assert await register_.take([known]) == {known.award_id: RegisterAnswer(Reception.OURS, known.award)}
    await register_.release([known.award_id])
    # A tier that one process has read is kept with the award: a process that only guesses sends that award.
    assert await register_.take([guessed]) == {known.award_id: RegisterAnswer(Reception.OURS, known.award)}
    # A process that dies while it sends leaves nothing that looks queued for ever.
    later = Register(house.pool, FixedClock(clock.now() + timedelta(minutes=1)))
    assert await later.states([known.award_id]) == {}
    await register_.queued([known.award_id])
    assert (await later.states([known.award_id]))[known.award_id].status is AwardStatus.QUEUED


@pytest.mark.long
async def test_a_transaction_is_computed_later_when_the_tier_cannot_be_read(house: House, servers: Servers) -> None:
    """Bob is platinum: three times the points. Without the database nobody knows, so nobody decides yet."""
    if servers.are_several:
        pytest.skip(TIERS_ARE_READ)
    await MembershipStore(house.pool, SystemClock()).set(("bob", "GRP"), "platinum", reason="test", actor="test")
    body = {"member_id": "bob", "transaction": MEAL}
    async with acme_behind(house, "database_url") as (proxy, acme):
        known = (await award(acme, "known", {**body, "transaction": {**MEAL, "transaction_id": "A-0"}})).json()
        assert "provisional" not in known
        await proxy.cut()
        first, again = await award(acme, "c", body), await award(acme, "c", body)
        another = {"idempotency_key": "b", **body, "transaction": {**MEAL, "transaction_id": "A-2"}}
        batch = await acme.post("/v1/awards/batch", json={"awards": [another]})
        (item,) = batch.json()["results"]
        assert (first.status_code, again.status_code, item["outcome"]) == (202, 202, "accepted")
        answers = [first.json(), again.json(), item["award"]]
        assert [(each["status"], each["provisional"]) for each in answers] == [("queued", True)] * 3
        assert (await acme.get(f"/v1/awards/{answers[0]['award_id']}")).status_code == 503
        assert {each["points"] * 3 for each in answers} == {known["points"]}
        await proxy.mend()
        await until(lambda: _registered(house, 3))
        waiting = (await acme.get(f"/v1/awards/{answers[0]['award_id']}")).json()
        assert (waiting["status"], waiting["provisional"]) == ("queued", True)
        async with house.running("retrier", "awarder"):
            await until(lambda: _transfers(house, 3))
        assert (await award(acme, "c", body)).json() == answers[0]
        state = (await acme.get(f"/v1/awards/{first.json()['award_id']}")).json()
        assert (state["status"], state["points"]) == ("posted", known["points"])
        assert "provisional" not in state
    rows = await house.pool.fetch("select key, explanation::text from transfer order by key")
    assert [row["key"] for row in rows] == ["api:acme:b", "api:acme:c", "api:acme:known"]
    assert all('"platinum"' in row["explanation"] for row in rows)


@pytest.mark.long
async def test_what_turns_out_bad_when_it_is_computed_is_quarantined_and_replayed(
    house: House, servers: Servers
) -> None:
    if servers.are_several:
        pytest.skip(TIERS_ARE_READ)
    async with acme_behind(house, "database_url") as (proxy, acme):
        assert (await acme.get("/v1/members/bob")).status_code == 404
        await proxy.cut()
        accepted = await award(acme, "c", {"member_id": "bob", "transaction": MEAL})
        assert accepted.status_code == 202
        tiers = MembershipStore(house.pool, SystemClock())
        await tiers.set(("bob", "GRP"), "emerald", reason="test", actor="test")
        await proxy.mend()
        async with house.running("retrier", "awarder"):
            await until(lambda: _quarantined(house))

            async def is_told() -> bool:
                state = await acme.get(f"/v1/awards/{accepted.json()['award_id']}")
                return state.status_code == 200 and state.json().get("reason") == "unknown-tier"

            await until(is_told)
            await tiers.set(("bob", "GRP"), "gold", reason="test", actor="test")
            replayed = await abacus("quarantine", "replay", "--all", env=house.environment())
            assert replayed.code == 0
            await until(lambda: _transfers(house, 1))
        state = await acme.get(f"/v1/awards/{accepted.json()['award_id']}")
        assert state.json()["status"] == "posted"


async def _quarantined(house: House) -> bool:
    return await house.reasons() == {"unknown-tier": 1}


@pytest.mark.long
async def test_the_ledger_decides_on_a_key_that_the_api_could_not_look_up(house: House) -> None:
    """Two processes without a database accept one key for different facts: one award stands, the other is set aside."""
    key = await register(house)
    async with proxied(house.settings.required("database_url")) as (proxy, address):
        away = house.settings.model_copy(update={"database_url": address})
        async with shop(house, settings=away) as first, shop(house, settings=away) as second:
            callers = [await first.caller(key), await second.caller(key)]
            for caller in callers:
                assert (await caller.get("/v1/members/bob")).status_code == 404  # the key is known
            await proxy.cut()
            answers = [
                await award(callers[0], "k"),
                await award(callers[1], "k"),
                await award(callers[0], "l"),
                await award(callers[1], "l", {**GRANT, "points": 5}),
            ]
            assert [answer.status_code for answer in answers] == [202] * 4
    async with house.running("awarder"):
        await until(lambda: _transfers(house, 2))

        async def set_aside() -> bool:
            return await house.reasons() == {"key-conflict": 1}

        await until(set_aside)


@pytest.mark.long
async def test_nothing_is_half_accepted_while_sqs_is_away(house: House) -> None:
    async with acme_behind(house, "sqs_endpoint_url") as (proxy, acme):
        await proxy.cut()
        answers = await asyncio.gather(*(award(acme, f"k{n}") for n in range(20)))
        assert {(answer.status_code, kind(answer)) for answer in answers} == {(503, "unavailable")}
        assert all(int(answer.headers["retry-after"]) > 0 for answer in answers)

        async def red() -> bool:
            ready = await acme.get("/readyz")
            return ready.status_code == 503 and "award queue" in ready.json()["workers"]["api"]["detail"]

        await until(red)
        await proxy.mend()

        async def green() -> bool:
            return (await acme.get("/readyz")).status_code == 200

        await until(green)
        again = await award(acme, "k0")
        assert (again.status_code, "idempotency-replayed" in again.headers) == (202, False)
    async with sqs_client(house.settings.sqs_endpoint_url) as client:
        queue = await SqsQueue.find(client, f"{house.settings.queue_prefix}award")
        assert await queue.waiting() == 1


@pytest.mark.long
async def test_the_api_waits_for_what_is_down_at_the_start(house: House) -> None:
    async with proxied(house.settings.required("database_url")) as (proxy, address):
        await proxy.cut()
        mending = asyncio.get_running_loop().call_later(1.0, lambda: asyncio.ensure_future(proxy.mend()))
        async with shop(house, settings=house.settings.model_copy(update={"database_url": address})) as opened:
            acme = await opened.caller(await register(house))
            assert (await award(acme, "k")).status_code == 202
        mending.cancel()


async def _transfers(house: House, count: int) -> bool:
    return await house.transfers() == count


async def _registered(house: House, count: int) -> bool:
    return bool(await house.pool.fetchval("select count(*) from partner_award where queued_at is not null") == count)
