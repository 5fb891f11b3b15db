"""Series and keys of counters over HTTP: gaps, the slot that is open, pages of keys, and the largest counts."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import httpx
import pytest

from abacus.documents.stated import Change
from abacus.engage.campaigns.day_sums import CampaignDays
from abacus.engage.journeys.day_sums import JourneyDays
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.engage.journeys.publications import journey_publications
from abacus.platform.postgres import Pool
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.events.decide.source import Source
from abacus.signals.events.wiring import built_in_sources
from tests.support.counters import RAIN, publish_counter, publish_weather, save_counts, save_keys
from tests.support.house import House
from tests.support.problems import kind
from tests.support.running_campaigns import run_campaign
from tests.support.running_journeys import run_journey
from tests.support.shop import count_desk, register
from tests.support.staff import hire

pytestmark = pytest.mark.once

KEY: Final = "rain_drops:city:111222"
HAIL: Final = {
    **RAIN,
    "id": 35,
    "name": "hail",
    "template": "hail:{city_id}",
    "keep": {"minutes": "6h"},
    "add": "var.litres",
    "timezone": "Asia/Kolkata",
}
PAST: Final = {"key": KEY, "from": "2024-09-24T22:03:00Z", "to": "2024-09-24T23:00:01Z", "grain": "quarter"}


@dataclass(frozen=True)
class Desk:
    """Series of rain and of hail, and who may read them: a partner, and ann, a person."""

    pool: Pool
    weather: Source
    rain: Definition
    hail: Definition
    acme: httpx.AsyncClient
    stranger: httpx.AsyncClient
    ann: httpx.AsyncClient

    async def ask(self, *queries: Any) -> list[dict[str, Any]]:
        answer = await self.acme.post("/v1/series", json={"queries": queries})
        assert answer.status_code == 200, answer.text
        results: list[dict[str, Any]] = answer.json()["results"]
        return results


@pytest.fixture
async def desk(house: House) -> AsyncIterator[Desk]:
    weather = await publish_weather(house.pool)
    rain = await publish_counter(house.pool, RAIN, weather)
    hail = await publish_counter(house.pool, HAIL, weather)
    acme, other = await register(house, may_count=True), await register(house, "other")
    async with count_desk(house) as opened:
        ann = await opened.caller(await hire(house.pool, "ann", "viewer"))
        yield Desk(house.pool, weather, rain, hail, await opened.caller(acme), await opened.caller(other), ann)


async def test_a_series_has_every_slot_of_its_range_and_gaps_are_zeros(desk: Desk) -> None:
    counts = [("quarters", f"2024-09-24T22:{minute}:00Z", count) for minute, count in (("00", 3), ("30", 4))]
    await save_counts(desk.pool, desk.rain, KEY, counts)
    await save_counts(desk.pool, desk.rain, KEY, [("quarters", "2024-09-24T22:30:00Z", 10)], writer=2)
    await save_counts(desk.pool, desk.rain, KEY, [("quarters", "2024-09-24T23:15:00Z", 99)])
    assert await desk.ask(PAST) == [
        {
            "key": KEY,
            "grain": "quarter",
            "slots": [
                ["2024-09-24T22:00:00Z", 3],
                ["2024-09-24T22:15:00Z", 0],
                ["2024-09-24T22:30:00Z", 14],
                ["2024-09-24T22:45:00Z", 0],
                ["2024-09-24T23:00:00Z", 0],
            ],
            "open": False,
        }
    ]


async def test_the_slot_of_the_present_is_the_last_and_open(desk: Desk) -> None:
    """Minutes of litres: the counts are decimals. Slots to come are left out."""
    now = datetime.now(UTC)
    minute = now.replace(second=0, microsecond=0)
    counts = [("minutes", (minute - timedelta(minutes=back)).isoformat(), 150) for back in (0, 2)]
    await save_counts(desk.pool, desk.hail, "hail:7", counts)
    asked = {"from": (minute - timedelta(minutes=3)).isoformat(), "to": (minute + timedelta(days=1)).isoformat()}
    (result,) = await desk.ask({"key": "hail:7", "grain": "minute", **asked})
    assert result["open"] is True
    values = [value for _, value in result["slots"]]
    assert values[:4] == ["0.00", "1.50", "0.00", "1.50"]
    assert values[4:] == ["0.00"] * len(values[4:]), "a minute may have begun meanwhile"
    assert result["slots"][3][0] == minute.isoformat().replace("+00:00", "Z")


async def test_days_are_those_of_the_zone(desk: Desk) -> None:
    today = datetime.now(UTC).date()
    (result,) = await desk.ask(
        {"key": "hail:7", "grain": "day", "from": f"{today - timedelta(days=3)}T20:00:00Z", "to": f"{today}T00:00:00Z"}
    )
    begins = [begin for begin, _ in result["slots"]]
    assert begins == [f"{today - timedelta(days=back)}T18:30:00Z" for back in (3, 2, 1)]


async def test_each_series_has_its_slots_or_its_error(desk: Desk) -> None:
    long = {"from": "2024-01-01T00:00:00Z", "to": "2024-02-01T00:00:00Z"}
    fits = {"key": KEY, "grain": "quarter", "from": "2024-01-01T00:00:00Z", "to": "2024-01-16T00:00:00Z"}
    queries = [
        {**PAST, "key": "snow:1"},
        {**PAST, "grain": "minute"},
        {**PAST, "grain": "month"},
        {**PAST, **long},
        {**PAST, "from": PAST["to"], "to": PAST["from"]},
        {**PAST, "from": 0, "to": 100},
        {"key": KEY},
        7,
        *[fits] * 22,
        {**PAST, "from": "2024-09-24T22:00:00Z", "to": "2024-09-24T22:00:00Z"},
    ]
    results = await desk.ask(*queries)
    told = [each["error"]["type"].rpartition("/")[2] if "error" in each else len(each["slots"]) for each in results]
    assert told == [
        *("unknown-key", "grain-not-kept", "invalid", "too-many-slots", "to-before-from", "beyond-keep"),
        *("invalid", "invalid"),
        *[1440] * 20,
        *["too-many-slots"] * 2,
        0,
    ]
    assert results[2]["error"]["errors"][0]["pointer"] == "/queries/2/grain"
    assert (await desk.acme.post("/v1/series", json={"queries": [PAST] * 101})).status_code == 422


async def test_keys_come_by_pages_in_their_order(desk: Desk) -> None:
    names = sorted(f"rain_drops:city:{number}" for number in range(25))
    await save_keys(desk.pool, desk.rain, names)
    await save_keys(desk.pool, desk.hail, ["hail:7"])
    seen, cursor = [], None
    while True:
        query = {"limit": "10"} | ({} if cursor is None else {"cursor": cursor})
        answer = (await desk.acme.get("/v1/counters/count_rain_drops/keys", params=query)).json()
        seen.append([each["key"] for each in answer["keys"]])
        if (cursor := answer["next"]) is None:
            break
    assert seen == [names[:10], names[10:20], names[20:]]


async def test_the_largest_counts_of_a_range(desk: Desk) -> None:
    for city, count in ((1, 5), (2, 50), (3, 7)):
        key = f"rain_drops:city:{city}"
        await save_counts(desk.pool, desk.rain, key, [("days", "2024-09-25T00:00:00Z", count)])
        await save_counts(desk.pool, desk.rain, key, [("quarters", "2024-09-26T00:00:00Z", 1)])
        await save_counts(desk.pool, desk.rain, key, [("quarters", "2024-09-26T00:15:00Z", 900)])
    query = {"top": "2", "from": "2024-09-25T00:00:00Z", "to": "1727310000"}
    assert (await desk.acme.get("/v1/counters/count_rain_drops/keys", params=query)).json() == {
        "keys": [{"key": "rain_drops:city:2", "count": 51}, {"key": "rain_drops:city:3", "count": 8}],
        "next": None,
        "from": "2024-09-25T00:00:00Z",
        "to": "2024-09-26T00:15:00Z",
    }


@pytest.mark.parametrize(
    ("path", "query", "problem"),
    [
        ("nobody", {}, "not-found"),
        ("count_rain_drops", {"limit": "101"}, "invalid"),
        ("count_rain_drops", {"cursor": "%%%"}, "invalid"),
        ("count_rain_drops", {"cursor": "AAAA"}, "invalid"),
        ("count_rain_drops", {"top": "3"}, "invalid"),
        ("count_rain_drops", {"from": "2024-09-25T00:00:00Z", "to": "2024-09-26T00:00:00Z"}, "invalid"),
        (
            "count_rain_drops",
            {"top": "3", "from": "2024-09-26T00:00:00Z", "to": "2024-09-25T00:00:00Z"},
            "to-before-from",
        ),
        ("hail", {"top": "3", "from": "2024-09-25T00:00:00Z", "to": "2024-09-25T00:15:00Z"}, "beyond-keep"),
        ("count_rain_drops", {"more": "1"}, "invalid"),
    ],
)
async def test_what_cannot_be_listed(desk: Desk, path: str, query: dict[str, str], problem: str) -> None:
    assert kind(await desk.acme.get(f"/v1/counters/{path}/keys", params=query)) == problem


async def test_people_see_what_journeys_and_campaigns_add_up_and_partners_do_not(desk: Desk, house: House) -> None:
    """The days are those of the clock of the journey: a version that nobody has approved moves none of them."""
    hello = {"do": {"tell": {"en": "Hello"}}, "next": "through"}
    await run_journey(house, nodes={"hello": hello, "through": {"exit": "through"}})
    store = JourneyStore(desk.pool)
    (approved,) = await store.history("welcome")
    now = datetime.now(UTC)
    around = await journey_publications(desk.pool, built_in_sources(house.settings), now)
    moved = replace(approved.document, timezone="America/New_York")
    await store.draft([moved], around, Change("person:ann", now))
    for day, node, outcome, members in (("26", 1, "came", 7), ("26", 0, "entered", 5), ("27", 1, "came", 1)):
        await desk.pool.execute(
            "insert into journey_sum values ('welcome', 1, $1, $2, '', $3, '', 0, $4)",
            *(date.fromisoformat(f"2026-01-{day}"), node, outcome, members),
        )
    await run_campaign(house, steps=[{"do": [{"tell": {"en": "Hello"}}]}])
    for day, arm, outcome, events in (
        ("25", "a", "done", 9),
        ("26", "a", "done", 4),
        ("26", "b", "refused:overall", 2),
    ):
        await desk.pool.execute(
            "insert into campaign_sum values ('market', 1, $1, $2, $3, 0, $4, $5, 0)",
            *(date.fromisoformat(f"2026-01-{day}"), arm, outcome, events, 10 * events),
        )
    asked = {"from": "2026-01-25T20:00:00Z", "to": "2026-01-27T12:00:00Z", "grain": "day"}
    keys = [f"@journey:welcome:{each}" for each in ("came", "came:hello", "entered", "gone", "came:nowhere")]
    told = [f"@campaign:market:{each}" for each in ("done:a", "refused", "points:b", "points")]
    queries = [{**asked, "key": each} for each in (*keys, "@campaign:nobody:done", KEY, *told)]
    results = (await desk.ann.post("/v1/series", json={"queries": queries})).json()["results"]
    midnights = [f"2026-01-{day}T16:00:00Z" for day in (25, 26)]
    counts = [[count for _, count in each["slots"]] if "slots" in each else each["error"]["status"] for each in results]
    assert [each[0] for each in results[0]["slots"]] == midnights
    assert counts == [[7, 1], [7, 1], [5, 0], 404, 404, 404, [0] * 3, [4, 0], [2, 0], [20, 0], [60, 0]]
    monday = date(2026, 1, 26)
    welcome, market = await JourneyDays(desk.pool).of("welcome"), await CampaignDays(desk.pool).of("market")
    assert welcome is not None
    assert market is not None
    for sums, of_all in ((welcome, "came"), (market, "done")):
        (found,) = (await sums.counts([(of_all,)], monday, monday)).values()
        assert list(found) == [monday], "no other day is read"
    partners = await desk.ask(*queries)
    assert ["error" in each for each in partners] == [True] * 6 + [False] + [True] * 4


async def test_who_may_not_count_sees_no_series_and_no_keys(desk: Desk, house: House) -> None:
    asked = [
        await desk.stranger.post("/v1/series", json={"queries": [PAST]}),
        await desk.stranger.get("/v1/counters/hail/keys"),
    ]
    assert [(each.status_code, kind(each)) for each in asked] == [(403, "counts-not-allowed")] * 2
