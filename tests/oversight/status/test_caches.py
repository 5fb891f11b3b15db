"""What running processes keep of answers: for the pure part, the commands and the page."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

import abacus as abacus_package
from abacus.core.errors import Refused
from abacus.oversight.status.caches import CACHED_ROUTES, cached_route
from abacus.oversight.status.decide.caches import caches_in_use
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import CacheNote, ProcessNote, Report, WorkerNote
from abacus.platform.reading.decide.shares import Setting
from tests.console.desk import desk
from tests.support.commands import abacus

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


def process(number: int, seen_at: datetime = NOW, **answers: Mapping[str, int]) -> ProcessNote:
    notes = {route: CacheNote(by_outcome, 7, 4096, 12.5) for route, by_outcome in answers.items()}
    report = Report({"offers": WorkerNote("ready", "")}, {}, {}, None, caches=notes)
    return ProcessNote(UUID(int=number), "host", number, "0.1.0", seen_at, seen_at, report.text)


def test_caches_stand_by_route_then_by_who_was_asked_most() -> None:
    found = caches_in_use(
        [
            process(1, members={"hit": 60, "stale": 20, "wait": 5, "shared": 5, "miss": 9, "away": 1}),
            process(2, members={"hit": 600}, places={"failed": 3}),
            process(3, NOW - timedelta(minutes=2), members={"hit": 1}),  # it is gone
        ],
        {"cache:places": Setting("cache:places", 35, NOW, "person:eve")},
        NOW,
    )
    assert [(each.route, each.process, each.share, each.asked, each.hit_rate) for each in found] == [
        ("members", "offers host:2", None, 600, 1.0),
        ("members", "offers host:1", None, 100, 0.9),
        ("places", "offers host:2", 35, 3, 0.0),
    ]
    assert (found[1].of("away", "failed"), found[1].note.bytes, found[1].note.stale_s) == (1, 4096, 12.5)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("member", "no route member keeps answers; did you mean members?"),
        ("categories", "did you mean nearby.categories?"),
        ("shops", "there are members, nearby.offers, nearby.categories"),
    ],
)
def test_the_name_of_a_route_is_guessed(name: str, told: str) -> None:
    with pytest.raises(Refused, match=told):
        cached_route(name)


def test_every_route_that_keeps_answers_can_be_named() -> None:
    kept = [
        match.group(1)
        for file in Path(abacus_package.__file__).parent.rglob("*.py")
        for match in re.finditer(r"(?:Route\[\w+, \w+\]\(\s*)(\w+|\"[a-z.]+\")", file.read_text())
    ]
    assert len(kept) == len(CACHED_ROUTES)


async def test_they_are_seen_and_switched(pool: Pool, database_url: str) -> None:
    environment = {"ABACUS_DATABASE_URL": database_url}
    async with desk(pool) as open_desk:
        await Presence(pool, open_desk.clock).note(process(1, open_desk.clock.now(), members={"hit": 3, "miss": 1}))
        eve = await open_desk.inside("eve", "operator")
        shown = (await eve.twin("/caches")).json()
        assert [(each["route"], each["share"]) for each in shown["caches"]["value"]] == [("members", None)]
        assert "75.0 %" in (await eve.see("/caches")).text
        refused = await abacus("caches", "share", "membres", "35", env=environment)
        assert (refused.code, "did you mean members?" in refused.err) == (2, True)
        for words in (("share", "members", "35"), ("off",)):
            assert (await abacus("caches", *words, env=environment)).code == 0
        assert "switched off" in (await eve.see("/caches")).text
        assert (await abacus("caches", "list", "--json", env=environment)).json["off"]
        assert (await abacus("caches", "on", "--json", env=environment)).json["percent"] == 100
        assert [each["share"] for each in (await eve.twin("/caches")).json()["caches"]["value"]] == [35]
