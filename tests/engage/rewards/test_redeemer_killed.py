"""The API is killed while 32 callers redeem: nothing is given twice, nothing is lost, and the stock is met exactly."""

import asyncio
from collections import Counter
from dataclasses import replace
from functools import partial

import httpx
import pytest

from abacus.oversight.reconcile.rewards import reward_books
from abacus.platform.encryption import Secrets, new_keyring_text
from tests.support.house import House, until
from tests.support.ports import free_port
from tests.support.rewards import give_points, load_codes, run_reward
from tests.support.shop import register

CALLERS = 32
EACH = 12
STOCK = 350  # fewer than are asked for
POINTS = 500 * EACH
KEYRING = new_keyring_text("one")


async def answered(caller: httpx.AsyncClient, member: str, number: int) -> httpx.Response:
    """Asked again under its key until there is an answer."""
    while True:
        try:
            answer = await caller.post(
                f"/v1/members/{member}/redemptions",
                json={"reward": "coffee"},
                headers={"Idempotency-Key": f"{member}-{number}"},
            )
            if answer.status_code != 503:
                return answer
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.05)


@pytest.mark.long
async def test_killed_again_and_again(house: House) -> None:
    await load_codes(house.pool, (f"C{n}" for n in range(400)), secrets=Secrets.of(KEYRING))
    await run_reward(house.pool, limits={"uses": {"overall": STOCK}})
    members = [f"m{number}" for number in range(CALLERS)]
    await give_points(house.pool, members, POINTS)
    key, port = await register(house), free_port()
    here = replace(house, settings=house.settings.model_copy(update={"api_port": port, "secrets_key": KEYRING}))
    got: dict[str, list[str]] = {each: [] for each in members}

    async def buy(caller: httpx.AsyncClient, member: str) -> None:
        for number in range(EACH):
            answer = await answered(caller, member, number)
            if answer.status_code == 201:
                got[member].append(answer.json()["code"])

    async def given(least: int) -> bool:
        return int(await house.pool.fetchval("select count(*) from reward_redemption where stage = 'given'")) >= least

    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=10) as caller:
        buying = [asyncio.create_task(buy(caller, member)) for member in members]
        for least in (1, 100, 200):
            async with here.process("api") as process:
                await until(partial(given, least))
                process.kill()
        async with here.process("api"):
            await asyncio.gather(*buying)

            async def all_ended() -> bool:
                return (await reward_books(house.pool)).waiting == 0

            await until(all_ended)
    codes = [code for each in got.values() for code in each]
    assert len(codes) == STOCK
    assert [code for code, times in Counter(codes).items() if times > 1] == []
    rows = await house.pool.fetch("select member_id, balance, held from account")
    assert {row["member_id"]: (row["balance"], row["held"]) for row in rows} == {
        member: (POINTS - 500 * len(each), 0) for member, each in got.items()
    }
    books = await reward_books(house.pool)
    assert (books.redemptions, list(books.faults)) == (CALLERS * EACH, [])
