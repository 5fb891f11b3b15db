"""`abacus places regions` as people and scripts use it, on a real Postgres."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import RateCard
from abacus.pricing.store.cards import CardStore
from tests.support.commands import Ran, abacus
from tests.support.staff import hire

pytestmark = pytest.mark.once

Regions = Callable[..., Awaitable[Ran]]


@pytest.fixture
async def regions(database_url: str, pool: Pool, example_cards: list[RateCard]) -> Regions:
    """`abacus places regions …`, where Singapore alone has a card; by somebody's token, or by the login."""
    (card,) = [each for each in example_cards if each.scope == "SG"]
    await CardStore(pool).publish(card, by="tests", now=SystemClock().now())

    async def command(*words: str | Path, token: str = "", of: str = "places regions") -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url, "COLUMNS": "200", **({"ABACUS_TOKEN": token} if token else {})}
        return await abacus(*of.split(), *map(str, words), env=env)

    return command


def drawn(file: Path, *features: dict[str, object]) -> Path:
    file.write_text(json.dumps({"type": "FeatureCollection", "features": features}), encoding="utf-8")
    return file


def square(id_: str, west: float, south: float, **properties: object) -> dict[str, object]:
    ring = [[west, south], [west + 1, south], [west + 1, south + 1], [west, south + 1], [west, south]]
    return {
        "type": "Feature",
        "properties": {"id": id_, **properties},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


async def test_regions_are_checked_loaded_and_looked_up(regions: Regions, tmp_path: Path) -> None:
    bad = drawn(tmp_path / "bad.geojson", square("a", 103, 1), square("a", 103, 1, priority="high"))
    refused = await regions("load", bad)
    assert refused.code == 2
    assert refused.err == (
        "features[1] (a).properties.priority: 'high' is a string; write a whole number without quotes\n"
        "features[1] (a).properties.id: a is the id of features[0] already\n"
        f"{bad}: 2 faults\n"
    )
    told = (await regions("lint", bad, "--json")).json
    assert [(each["feature"], each["id"], each["path"]) for each in told["faults"]] == [
        (1, "a", "properties.priority"),
        (1, "a", "properties.id"),
    ]

    file = drawn(tmp_path / "good.geojson", square("west", 103, 1, name="West"), square("east", 104, 1, kind="city"))
    assert (await regions("lint", file)).out == f"{file}: 2 regions of SG\n"
    assert (await regions("diff", file)).out == "SG: 2 added; 0 in force\n+ east\n+ west (West)\n"
    assert (await regions("load", file)).out == "SG@1 is in force: 2 added; 0 in force before\n"
    assert (await regions("load", file)).out == "SG: the 2 regions in force are these already\n"

    found = (await regions("at", "1.5", "104", "--json")).json
    assert found == {"regions": [{"id": "east", "name": "east", "kind": "city", "priority": 0, "country": "SG"}]}
    nowhere = await regions("at", "3", "104.5")
    assert nowhere.out == "3, 104.5 lies in no region; the nearest is east, 111,195 m away\n"
    assert (await regions("at", "91", "0")).code == 2

    listed = (await regions("list", "--json")).json
    assert [(each["number"], each["size"], each["approved_by"]) for each in listed["editions"]] == [(1, 2, None)]
    assert [each["id"] for each in listed["regions"]] == ["east", "west"]
    shown = (await regions("show", "west", "--json")).json
    assert (shown["edition"], shown["bbox"]) == ("SG@1", [103.0, 1.0, 104.0, 2.0])
    assert (await regions("show", "north")).code == 1


async def test_a_load_that_changes_much_takes_a_second_person(regions: Regions, pool: Pool, tmp_path: Path) -> None:
    many = [square(f"r{number}", 100 + number, 1) for number in range(10)]
    await regions("load", drawn(tmp_path / "first.geojson", *many))
    one_more = drawn(tmp_path / "little.geojson", *many, square("r10", 110, 1))
    assert (await regions("load", one_more)).out == "SG@2 is in force: 1 added; 10 in force before\n"

    much = drawn(tmp_path / "much.geojson", *many[1:], square("r10", 110, 2))
    assert "takes a second person" in (await regions("diff", much)).out
    by_login = await regions("load", much)
    assert by_login.code == 2
    assert "is a login and no person" in by_login.err

    ann, ben = await hire(pool, "ann", "country_editor:SG"), await hire(pool, "ben", "approver:SG")
    assert (await regions("load", much, token=ben)).code == 2
    (loaded,) = (await regions("load", much, "--json", token=ann)).json["countries"]
    assert (loaded["edition"], loaded["removed"], loaded["changed"]) == (3, ["r0"], {"r10": ["shape"]})
    assert (await regions("at", "1.5", "100.5", "--json")).json["regions"][0]["id"] == "r0"

    approval = loaded["approval"]
    decide = ("approve", approval["approval_id"], "--digest", approval["digest"])
    assert (await regions(*decide, token=ann, of="approvals")).code != 0
    assert (await regions(*decide, token=ben, of="approvals")).code == 0
    assert (await regions("at", "1.5", "100.5", "--json")).json["regions"] == []
    newest = (await regions("list", "--json")).json["editions"][0]
    assert (newest["number"], newest["loaded_by"], newest["approved_by"]) == (3, "person:ann", "person:ben")


async def test_what_waits_is_void_once_another_edition_came_in_force(
    regions: Regions, pool: Pool, tmp_path: Path
) -> None:
    await regions("load", drawn(tmp_path / "a.geojson", square("a", 103, 1), square("b", 104, 1)))
    ann, ben = await hire(pool, "ann", "country_editor:SG"), await hire(pool, "ben", "approver:SG")
    waits = drawn(tmp_path / "b.geojson", square("a", 103, 2), square("b", 104, 1))
    (loaded,) = (await regions("load", waits, "--json", token=ann)).json["countries"]
    map_ = tmp_path / "map.toml"
    map_.write_text('country = "SG"\ntimezone = "Asia/Singapore"\nsecond_person_above = 50\n', encoding="utf-8")
    assert (await regions("publish", map_, of="places")).code == 0
    moved = drawn(tmp_path / "c.geojson", square("a", 103, 1), square("b", 104, 2))
    assert (await regions("load", moved)).out == "SG@3 is in force: 1 changed; 2 in force before\n"
    approval = loaded["approval"]
    late = await regions("approve", approval["approval_id"], "--digest", approval["digest"], token=ben, of="approvals")
    assert late.code != 0
    assert "SG@3 came in force since; load the regions again" in late.err
