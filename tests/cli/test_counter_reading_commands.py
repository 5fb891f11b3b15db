"""`abacus counters get` and `cache`."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from abacus.platform.postgres import Pool
from tests.support.commands import Ran, abacus
from tests.support.counters import RAIN, publish_counter, publish_weather, save_counts, save_keys
from tests.support.staff import LOGIN, hire

KEY = "rain_drops:city:111222"


async def test_a_count_is_read_from_the_store(pool: Pool, database_url: str) -> None:
    weather = await publish_weather(pool)
    litres = {**RAIN, "id": 7, "name": "litres", "template": "litres:{city_id}", "add": "var.litres", "decimals": 2}
    for document, key, count in ((RAIN, KEY, 1189), (litres, "litres:7", 123456)):
        definition = await publish_counter(pool, document, weather)
        await save_counts(pool, definition, key, [("days", "2024-09-25T00:00:00Z", count)])

    async def get(key: str, begin: str, *more: str) -> Ran:
        return await abacus("counters", "get", key, "--from", begin, *more, env={"ABACUS_DATABASE_URL": database_url})

    counted = await get(KEY, "2024-09-25T08:07:00+08:00", "--to", "2024-09-26T00:00:00Z", "--json")
    assert counted.json == {
        "key": KEY,
        "from": "2024-09-25T00:00:00+00:00",
        "to": "2024-09-26T00:00:00+00:00",
        "count": 1189,
    }
    said = await get("litres:7", "2024-09-25T00:00:00Z", "--to", "2024-09-27T00:00:00Z")
    assert said.out == "litres:7: 1,234.56 from 2024-09-25 00:00 to 2024-09-27 00:00 UTC\n"
    assert (await get(KEY, "2024-09-24T00:00:00Z")).code == 0  # up to now
    unknown = await get("hail:7", "2024-09-24T00:00:00Z")
    assert (unknown.code, unknown.err.partition("; ")[0]) == (
        1,
        "abacus: there is no counter with a key such as 'hail:7'",
    )
    backwards = await get(KEY, "2024-09-24T00:00:00Z", "--to", "2024-09-23T00:00:00Z")
    assert (backwards.code, backwards.err) == (2, "abacus: `to` is before `from`\n")


async def test_what_was_counted_so_far_is_in_a_count_without_an_end(pool: Pool, database_url: str) -> None:
    definition = await publish_counter(pool, RAIN, await publish_weather(pool))
    quarter = datetime.fromtimestamp(time.time() // 900 * 900, UTC)
    counted = [("quarters", quarter.isoformat(), 3)]
    await save_counts(pool, definition, KEY, counted)
    begin = (quarter - timedelta(minutes=15)).isoformat()
    env = {"ABACUS_DATABASE_URL": database_url}
    so_far = (await abacus("counters", "get", KEY, "--from", begin, "--json", env=env)).json
    assert (so_far["count"], datetime.fromisoformat(so_far["to"]) > quarter) == (3, True)
    until = ("--to", quarter.isoformat())
    assert (await abacus("counters", "get", KEY, "--from", begin, *until, "--json", env=env)).json["count"] == 0


@pytest.mark.parametrize(
    ("share", "words"),
    [
        ("0", "nothing is kept, since "),
        ("7", "closed parts are kept of counters whose id ends below 07, since "),
        ("100", "closed parts of all counters are kept, since "),
    ],
)
async def test_the_share_of_the_cache_is_set_and_shown(pool: Pool, database_url: str, share: str, words: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    assert (await abacus("counters", "cache", env=env)).out == "nothing is kept: every answer is read from the store\n"
    assert (await abacus("counters", "cache", "--json", env=env)).json == {"percent": 0, "set_at": None, "set_by": None}
    set_ = await abacus("counters", "cache", "--share", share, env=env)
    assert set_.out.startswith(words)
    assert set_.out == (await abacus("counters", "cache", env=env)).out
    shown = (await abacus("counters", "cache", "--json", env=env)).json
    assert (shown["percent"], shown["set_by"]) == (int(share), LOGIN)
    (entry,) = await pool.fetch("select actor, deed, subject, details::text from audit_log")
    assert dict(entry) == {
        "actor": LOGIN,
        "deed": "run-jobs",
        "subject": "counters",
        "details": f'{{"did": "cache", "share": {share}}}',
    }


async def test_it_is_one_of_the_shares_of_caches(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    assert (await abacus("caches", "share", "counts", "35", env=env)).code == 0
    assert (await abacus("counters", "cache", "--json", env=env)).json["percent"] == 35
    assert await pool.fetchval("select count(*) from counter_setting") == 1


async def test_the_share_is_for_operators(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": await hire(pool, "ann", "viewer")}
    refused = await abacus("counters", "cache", "--share", "35", env=env)
    assert (refused.code, "may not run jobs" in refused.err) == (2, True)
    assert (await abacus("counters", "cache", "--share", "101", env=env)).code == 2


async def test_a_series_and_keys_are_read_from_the_store(pool: Pool, database_url: str) -> None:
    definition = await publish_counter(pool, RAIN, await publish_weather(pool))
    await save_keys(pool, definition, [KEY, "rain_drops:city:7"])
    counts = [("hours", "2024-09-25T00:00:00Z", 1189), ("days", "2024-09-25T00:00:00Z", 1200)]
    await save_counts(pool, definition, KEY, counts)
    env = {"ABACUS_DATABASE_URL": database_url}
    begin, end = ("--from", "2024-09-25T00:00:00Z"), ("--to", "2024-09-25T02:00:00Z")

    told = (await abacus("counters", "series", KEY, *begin, *end, "--json", env=env)).json
    slots = [["2024-09-25T00:00:00+00:00", 1189], ["2024-09-25T01:00:00+00:00", 0]]
    assert told == {"key": KEY, "grain": "hour", "slots": slots, "open": False}
    refused = await abacus("counters", "series", KEY, *begin, *end, "--grain", "minute", env=env)
    assert (refused.code, refused.err) == (2, "abacus: count_rain_drops keeps no minutes\n")
    so_far = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    assert "the last slot has not ended" in (await abacus("counters", "series", KEY, "--from", so_far, env=env)).out

    assert (await abacus("counters", "keys", "count_rain_drops", env=env)).out == f"{KEY}\nrain_drops:city:7\n"
    assert (await abacus("counters", "keys", "count_rain_drops", "--after", KEY, "--json", env=env)).json == {
        "keys": ["rain_drops:city:7"],
        "next": None,
    }
    top = ("--top", "5", *begin, "--to", "2024-09-26T00:00:00Z")
    largest = (await abacus("counters", "keys", "count_rain_drops", *top, "--json", env=env)).json
    assert largest["keys"] == [{"key": KEY, "count": 1200}]
    assert (await abacus("counters", "keys", "count_rain_drops", "--top", "5", env=env)).code == 2
    assert (await abacus("counters", "keys", "nothing", env=env)).code == 1
