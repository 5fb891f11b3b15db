"""`abacus places load|find|nearest` as people and scripts use them, on a real Postgres."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import RateCard
from abacus.pricing.store.cards import CardStore
from abacus.signals.places.decide.visit import Visit
from abacus.signals.places.visit_rows import keep_visits
from tests.support.commands import Ran, abacus
from tests.support.on_the_map import load_regions, square
from tests.support.staff import hire

pytestmark = pytest.mark.once

Places = Callable[..., Awaitable[Ran]]
SHOPS = """\
id,name,merchant,brand,categories,lat,lon,hours
s-1,Corner,m-1,corner,food;pizza,1.3000,103.8000,24/7
s-2,Night,m-2,,food,1.3010,103.8000,off
s-3,Far,m-1,corner,,1.4000,103.8000,
"""


@pytest.fixture
async def places(database_url: str, pool: Pool, example_cards: list[RateCard]) -> Places:
    """`abacus places …`, where Singapore alone has a card."""
    (card,) = [each for each in example_cards if each.scope == "SG"]
    await CardStore(pool).publish(card, by="tests", now=SystemClock().now())

    async def command(*words: str | Path) -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url, "COLUMNS": "200"}
        return await abacus("places", *map(str, words), env=env)

    return command


async def test_places_are_loaded_found_and_told_by_how_near_they_are(places: Places, tmp_path: Path) -> None:
    file = tmp_path / "shops.csv"
    file.write_text(SHOPS, encoding="utf-8")
    loaded = await places("load", file)
    assert loaded.out == f"{file}: 3 places of SG: 3 new, 0 changed, 0 as before; version 1\n"

    near = await places("nearest", "1.3", "103.8", "--json")
    assert [(each["id"], each["distance_m"], each["open"]) for each in near.json] == [
        ("s-1", 0, True),
        ("s-2", 111, False),
    ]
    for words, found in (
        (("--radius", "20000", "--brand", "corner"), ["s-1", "s-3"]),
        (("--open",), ["s-1"]),
        (("--category", "food", "--k", "1"), ["s-1"]),
        (("--merchant", "m-2"), ["s-2"]),
    ):
        assert [each["id"] for each in (await places("nearest", "1.3", "103.8", *words, "--json")).json] == found

    one = (await places("find", "s-1", "--json")).json
    assert {name: one[name] for name in ("id", "lat", "lon", "open", "version")} == {
        "id": "s-1",
        "lat": 1.3,
        "lon": 103.8,
        "open": True,
        "version": 1,
    }
    assert (await places("find", "s-9")).code == 1
    assert "latitude and longitude look swapped" in (await places("nearest", "103.8", "1.3")).err

    file.write_text("\n".join(SHOPS.splitlines()[:2]), encoding="utf-8")
    assert (await places("load", file, "--replace", "--json")).json == {
        "file": str(file),
        "places": 1,
        "countries": {"SG": 1},
        "new": 0,
        "changed": 0,
        "unchanged": 1,
        "removed": 2,
        "version": 2,
    }
    left = (await places("find", "s-1", "--json")).json["id"]
    assert (await places("remove", left, "--json")).json == {"id": left, "version": 3}
    assert (await places("remove", left)).code == 1


async def test_a_file_with_a_fault_loads_nothing(places: Places, tmp_path: Path, pool: Pool) -> None:
    file = tmp_path / "shops.csv"
    file.write_text(SHOPS.replace("24/7", "always"), encoding="utf-8")
    bad = await places("load", file)
    assert (bad.code, bad.out) == (2, "")
    assert bad.err.startswith("line 2: hours: 'always' is no rule of opening hours")
    assert bad.err.endswith("1 of 3 places bad; nothing is loaded\n")
    assert (await places("load", file, "--json")).json["faults"][0]["where"] == "line 2"
    assert "XX has no rate card" in (await places("load", file, "--country", "XX")).err
    assert await pool.fetchval("select count(*) from place") == 0


async def test_a_person_is_told_in_which_regions_a_member_is(database_url: str, pool: Pool, places: Places) -> None:
    """Of countries that the person may see."""
    await load_regions(pool, square("centre", 103.0, 103.5), square("east", 103.5, 104.0), square("port", 104.0, 104.5))
    early, late = (datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in (9, 10))
    async with pool.acquire() as connection:
        await keep_visits(
            connection,
            [
                Visit("bob", "centre", inside=True, since=early, seen_at=late),
                Visit("bob", "east", inside=False, since=late, seen_at=late),
                Visit("bob", "gone", inside=True, since=early, seen_at=late),
                Visit("eve", "port", inside=True, since=early, seen_at=late),
            ],
        )
    assert [(each["region"], each["inside"]) for each in (await places("where", "bob", "--json")).json] == [
        ("centre", True),
        ("east", False),
    ]
    shown = (await places("where", "bob")).out
    assert "inside" in shown
    assert (await places("where", "zoe")).out == "of zoe no position of the last day tells a region\n"
    token = await hire(pool, "kim", "support:ID")
    env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": token}
    assert (await abacus("places", "where", "bob", "--json", env=env)).json == []
