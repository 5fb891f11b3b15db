"""Members enter journeys in waves: of a segment, and before their points expire. A page at a time, each once."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.expiry_waves import ExpiryWaves
from abacus.engage.journeys.segment_waves import SegmentWaves
from abacus.engage.journeys.wave_gate import WaveGate
from abacus.engage.journeys.waves import Waves
from abacus.platform.postgres import Pool, open_pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.facts.types import NOT_NOW
from abacus.signals.segments.store import Author, SegmentStore
from abacus.signals.segments.types import How
from tests.engage.campaigns.offers import CARDS, NOW
from tests.engage.journeys.examples import journey, nodes, rule
from tests.engage.journeys.stage import HOUR, Stage
from tests.engage.journeys.test_walks import Tiers
from tests.signals.segments.sets_of_members import erase, numbered

DAY: Final = timedelta(days=1)
DAYS: Final = nodes("day", day={"wait": {"for": "1d"}, "next": "done"})
SEGMENT: Final = {"segment": "regulars"}
ANYTIME: Final = {"again": "after_leaving", "at_most": 9}
EXPIRING: Final = {"life": "points.expiring", "days": 3}
MARCH_5TH: Final = date(2026, 3, 5)


async def regulars(pool: Pool, *members: str, how: How = How.LOAD, at: datetime = NOW - 9 * DAY) -> None:
    given = await numbered(pool, *members)
    await SegmentStore(pool).change("regulars", how, given, Author("person:ann", at), country=None)


def segments(stage: Stage, page: int = 2) -> SegmentWaves:
    """As a process that begins to lead."""
    return SegmentWaves(WaveGate(stage.gate, stage.late), page, pool=stage.pool, clock=stage.clock)


def expiries(stage: Stage) -> ExpiryWaves:
    cards = CardBook(CARDS.values())
    return ExpiryWaves(WaveGate(stage.gate, stage.late), cards=lambda: cards, pool=stage.pool, clock=stage.clock)


async def through(waves: SegmentWaves | ExpiryWaves, stage: Stage, at: datetime = NOW) -> list[int]:
    """The pages, until nobody is left."""
    stage.clock.set(at)
    pages: list[int] = []
    while some := await waves.step(stage.running.newest[0]):
        pages.append(some)
    return pages


async def keys(pool: Pool) -> Sequence[tuple[str, str]]:
    return [tuple(row) for row in await pool.fetch("select member_id, key from seat order by 1, visit")]


async def test_all_of_a_segment_enter_when_the_journey_begins_page_by_page(pool: Pool) -> None:
    await regulars(pool, "ann", "bob", "cid", "dan", "eve")
    stage = Stage(pool, journey(entry=SEGMENT, starts_at=NOW.isoformat(), **DAYS))
    assert await through(segments(stage), stage, NOW - HOUR) == []
    assert await through(segments(stage), stage) == [2, 2, 1]
    key = f"segment:regulars@1:{NOW.isoformat()}"
    assert await keys(pool) == [(member, key) for member in ("ann", "bob", "cid", "dan", "eve")]
    await regulars(pool, "fay", how=How.ADD, at=NOW)
    assert await through(segments(stage), stage, NOW + HOUR) == []  # nobody who joins later was asked for


async def test_a_wave_goes_on_where_a_process_left_it(pool: Pool) -> None:
    """The process died before it had noted the second page, and others changed the segment meanwhile."""
    await regulars(pool, "ann", "bob", "cid", "dan", "eve")
    stage = Stage(pool, journey(entry=SEGMENT, re_entry=ANYTIME, **nodes("done")))
    first = segments(stage)
    assert await first.step(stage.running.newest[0]) == 2
    noted = await pool.fetchval("select upto from journey_wave")
    assert await first.step(stage.running.newest[0]) == 2
    await pool.execute("update journey_wave set upto = $1", noted)
    await regulars(pool, "zoe", at=NOW)
    assert await through(segments(stage), stage) == [2, 1]
    assert [member for member, _ in await keys(pool)] == ["ann", "bob", "cid", "dan", "eve"]


async def test_members_who_join_later_enter_when_they_do(pool: Pool, database_url: str) -> None:
    await regulars(pool, "ann", "bob", "cid")
    later = journey(entry={**SEGMENT, "and_later": True}, re_entry=ANYTIME, **nodes("done"))
    stage = Stage(pool, later)
    waves = segments(stage)
    assert await through(waves, stage) == [2, 1]
    await regulars(pool, "ann", "dan", "eve", at=NOW)  # cid and bob are gone
    owner = await open_pool(database_url, size=1, role=None)
    await erase(owner, "eve")
    await owner.close()
    assert await through(waves, stage) == [2]
    assert await through(segments(stage), stage) == []
    await regulars(pool, "bob", how=How.ADD, at=NOW)
    assert await through(segments(stage), stage) == [1]
    assert [(member, key[:19]) for member, key in await keys(pool)] == [
        ("ann", "segment:regulars@1:"),
        ("bob", "segment:regulars@1:"),
        ("bob", "segment:regulars@3:"),
        ("cid", "segment:regulars@1:"),
        ("dan", "segment:regulars@2:"),
    ]


async def test_who_was_in_it_at_the_time_is_asked_of_the_version_of_then(pool: Pool) -> None:
    await regulars(pool, "ann")
    await regulars(pool, "bob", at=NOW + 2 * HOUR)
    at = (NOW + HOUR).isoformat()
    stage = Stage(pool, journey(entry={**SEGMENT, "at": at}, **DAYS))
    assert await through(segments(stage), stage) == []
    assert await through(segments(stage), stage, NOW + DAY) == [1]
    assert [member for member, _ in await keys(pool)] == ["ann"]


async def test_a_segment_that_was_not_there_had_nobody(pool: Pool) -> None:
    then, later = (
        journey(entry={**SEGMENT, "at": NOW.isoformat(), "and_later": is_later}, **DAYS) for is_later in (False, True)
    )
    waves = segments(stage := Stage(pool, then))
    assert await through(waves, stage) == []
    await regulars(pool, "ann", at=NOW + HOUR)
    assert await through(segments(stage), stage, NOW + DAY) == []
    stage = Stage(pool, later)
    assert await through(segments(stage), stage, NOW + DAY) == [1]


async def test_members_enter_days_before_their_points_expire(pool: Pool) -> None:
    """By the clock of the country: the points of the 5th expire in the night to the 6th, three days after the 3rd."""
    points = {"ann": (MARCH_5TH, 60, 10), "bob": (MARCH_5TH + DAY, 60, 0), "cid": (MARCH_5TH, 60, 60)}
    for member, (day, balance, held) in points.items():
        await pool.execute(
            "insert into account (member_id, program, country, balance, held, expires_on)"
            " values ($1, 'GRP', 'SG', $2, $3, $4)",
            *(member, balance, held, day),
        )
    stage = Stage(pool, journey(entry=EXPIRING, **DAYS))
    waves, midnight = expiries(stage), datetime(2026, 3, 2, 16, tzinfo=UTC)
    assert await through(waves, stage, midnight - HOUR) == []
    assert await keys(pool) == []
    await through(waves, stage, midnight)
    assert await keys(pool) == [("ann", "points.expiring:GRP:2026-03-05")]
    context = '{"points":50,"expires_at":"2026-03-05T16:00:00+00:00"}'
    assert await pool.fetchval("select context::text from seat") == context
    await through(expiries(stage), stage, midnight + HOUR)  # another process looks anew
    await through(waves, stage, midnight + DAY)
    assert [member for member, _ in await keys(pool)] == ["ann", "bob"]


@pytest.mark.parametrize(("missed", "enters"), [(1, True), (3, False)])
async def test_days_that_were_missed_are_made_up_for_while_points_are_good(
    pool: Pool, missed: int, *, enters: bool
) -> None:
    await pool.execute(
        "insert into account (member_id, program, country, balance, held, expires_on)"
        " values ('ann', 'GRP', 'SG', 60, 0, $1)",
        MARCH_5TH,
    )
    stage = Stage(pool, journey(entry=EXPIRING, **DAYS))
    await through(expiries(stage), stage, datetime(2026, 3, 3, 4, tzinfo=UTC) + missed * DAY)
    assert bool(await keys(pool)) is enters


async def test_a_journey_takes_nobody_in_for_a_moment_before_it_was_approved(pool: Pool) -> None:
    await pool.execute(
        "insert into account (member_id, program, country, balance, held, expires_on)"
        " values ('ann', 'GRP', 'SG', 60, 0, $1)",
        MARCH_5TH,
    )
    stage = Stage(pool, journey(entry=EXPIRING, starts_at="2026-03-03T12:00:00+08:00", **DAYS))
    await through(expiries(stage), stage, datetime(2026, 3, 3, 5, tzinfo=UTC))
    assert await keys(pool) == []


async def late(pool: Pool) -> Sequence[tuple[str, str]]:
    """Who waits, and for which journey."""
    return [tuple(row) for row in await pool.fetch("select journey, member_id from journey_entry_aside order by 1, 2")]


async def all_pages(waves: Waves, stage: Stage) -> None:
    """Also of journeys that wait a while."""
    async with stage.pool.acquire() as leading:
        for minute in range(12):
            stage.clock.set(NOW + timedelta(minutes=minute))
            while await waves.step(leading):
                pass


async def test_a_member_who_cannot_be_told_holds_up_no_wave(pool: Pool) -> None:
    await regulars(pool, "ann", "bob", "cid")
    gold: dict[str, Any] = {**SEGMENT, "when": rule("member.tier", "eq", "gold")}
    stuck, plain = journey(entry=gold, **DAYS), journey(name="plain", entry=SEGMENT, **DAYS)
    stage = Stage(pool, stuck, plain, tiers=Tiers({"ann": NOT_NOW, "bob": "gold", "cid": "gold"}))
    waves = Waves(lambda: stage.running, segments(stage, page=9), expiries(stage), stage.clock)
    async with pool.acquire() as leading:
        assert await waves.step(leading) == 6, "in one go"
    rows = await pool.fetch("select journey, member_id from seat order by 1, 2")
    inside = [("plain", "ann"), ("plain", "bob"), ("plain", "cid"), ("welcome", "bob"), ("welcome", "cid")]
    assert [tuple(row) for row in rows] == inside
    assert await late(pool) == [("welcome", "ann")]
    stage.tiers.tiers = {"ann": "gold"}
    assert await stage.look_again(HOUR) == 1
    assert (await late(pool), await pool.fetchval("select count(*) from seat where member_id = 'ann'")) == ([], 2)


async def test_a_service_that_is_away_stops_a_wave_and_makes_few_late(pool: Pool) -> None:
    members = [f"m{number}" for number in range(30)]
    await regulars(pool, *members)
    gold: dict[str, Any] = {**SEGMENT, "when": rule("member.tier", "eq", "gold")}
    stage = Stage(pool, journey(entry=gold, **DAYS), tiers=Tiers(dict.fromkeys(members, NOT_NOW)))
    await all_pages(Waves(lambda: stage.running, segments(stage), expiries(stage), stage.clock), stage)
    assert len(await late(pool)) == 20
    stage.tiers.tiers = dict.fromkeys(members, "gold")
    await all_pages(Waves(lambda: stage.running, segments(stage), expiries(stage), stage.clock), stage)
    assert await pool.fetchval("select count(*) from seat") == 10
    assert await stage.look_again(HOUR) == 20


class _Away(ExpiryWaves):
    """A slice of the accounts of `welcome` is away."""

    async def step(self, journey: Journey) -> int:
        if journey.name == "welcome":
            raise Unavailable("database", "a slice is away")
        return await super().step(journey)


async def test_a_slice_that_is_away_for_one_journey_stops_no_other(pool: Pool) -> None:
    await regulars(pool, "ann", "bob", "cid")
    stage = Stage(pool, journey(entry=EXPIRING, **DAYS), journey(name="plain", entry=SEGMENT, **DAYS))
    cards = CardBook(CARDS.values())
    away = _Away(WaveGate(stage.gate, stage.late), cards=lambda: cards, pool=pool, clock=stage.clock)
    waves = Waves(lambda: stage.running, segments(stage), away, stage.clock)
    await all_pages(waves, stage)
    assert await pool.fetchval("select count(*) from seat where journey = 'plain'") == 3


async def test_an_account_that_cannot_be_told_holds_up_no_wave_of_expiring_points(pool: Pool) -> None:
    for member in ("ann", "bob", "cid"):
        await pool.execute(
            "insert into account (member_id, program, country, balance, held, expires_on)"
            " values ($1, 'GRP', 'SG', 60, 0, $2)",
            *(member, MARCH_5TH),
        )
    gold = {**EXPIRING, "when": rule("member.tier", "eq", "gold")}
    starts = "2026-03-01T00:00:00+08:00"
    stage = Stage(
        pool,
        journey(entry=gold, starts_at=starts, **DAYS),
        tiers=Tiers({"ann": NOT_NOW, "bob": "gold", "cid": "gold"}),
    )
    waves, at = expiries(stage), datetime(2026, 3, 2, 17, tzinfo=UTC)
    stage.clock.set(at)
    assert await waves.step(stage.running.newest[0]) == 3, "in one go"
    assert [member for member, _ in await keys(pool)] == ["bob", "cid"]
    assert await late(pool) == [("welcome", "ann")]
    stage.tiers.tiers = {"ann": "gold"}
    assert await stage.look_again(at - NOW + HOUR) == 1
    assert await keys(pool) == [(member, "points.expiring:GRP:2026-03-05") for member in ("ann", "bob", "cid")]
    assert await pool.fetchval("select count(distinct context::text) from seat") == 1, "with its context"
