"""Whether a member could have a reward, with everything that is against it; nothing is taken by a look."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from abacus.core.errors import Refused
from abacus.engage.rewards.decide.delivered import delivered
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.preview import Foreseen, Look
from abacus.platform.postgres import Pool
from tests.support.rewards import DAY, NOW, Counter, around, give_points, load_codes, reward

GOLD_ONLY: dict[str, Any] = {"operator": "eq", "lhs": "member.tier", "rhs": "gold"}
PART_IN_MONEY: dict[str, Any] = {"points": 500, "money": {"least_points": 200, "point_pays": "0.01"}}


async def foreseen(counter: Counter, asked: Look, **fields: Any) -> Foreseen:
    look = counter.preview.look
    standings = await counter.standings(asked.member_id)
    return await look(Offered(reward(**fields), around()), asked, standings, NOW)


async def test_a_member_who_can_have_it(pool: Pool) -> None:
    await load_codes(pool, ["A", "B"])
    await give_points(pool, ["bob"], 1200)
    counter = Counter(pool, [])
    found = await foreseen(counter, Look("bob", 2))
    assert (found.can_have, found.opened.points, found.opened.program, found.available) == (True, 1000, "GRP", 1200)
    assert delivered(found.opened) == "2 codes of the pool coffee_codes"
    in_part = await foreseen(counter, Look("bob", 1, 300), price=PART_IN_MONEY)
    assert (in_part.opened.points, in_part.opened.money) == (300, Decimal("2.00"))
    assert await counter.points() == (1200, 0)
    assert await pool.fetchval("select count(*) from reward_redemption") == 0


@pytest.mark.parametrize(
    ("fields", "asked", "locks"),
    [
        ({}, Look("eve"), ["points"]),
        ({}, Look("bob", 3), ["points", "codes"]),
        ({"starts_at": (NOW + DAY).isoformat()}, Look("bob"), ["closed"]),
        ({"when": GOLD_ONLY}, Look("bob"), ["audience"]),
        ({}, Look("bob", 1, 300), ["points"]),
        ({"limits": {"uses": {"overall": 1, "member": 1}}}, Look("bob", 2), ["stock", "member"]),
        ({"delivery": {"offer": "lunch_invited"}}, Look("bob", 2), ["member", "closed"]),
    ],
)
async def test_everything_that_is_against_it_is_told(
    pool: Pool, fields: dict[str, Any], asked: Look, locks: list[str]
) -> None:
    await load_codes(pool, ["A", "B"])
    await give_points(pool, ["bob"], 1200)
    found = await foreseen(Counter(pool, []), asked, **fields)
    assert [each.lock.value for each in found.locks] == locks
    assert not found.can_have


async def test_what_a_service_does_not_say_is_not_told(pool: Pool) -> None:
    await load_codes(pool, ["A"])
    await give_points(pool, ["bob"], 1200)
    found = await foreseen(
        Counter(pool, []), Look("bob"), when={"operator": "eq", "lhs": "external.lucky", "rhs": True}
    )
    assert (found.is_told, found.can_have, found.locks) == (False, False, ())


async def test_of_a_member_who_has_no_account_that_is_open_nothing_is_told(pool: Pool) -> None:
    """Whatever the rule asks about."""
    await load_codes(pool, ["A"])
    await give_points(pool, ["bob"], 1200)
    when = {"operator": "eq", "lhs": "external.lucky", "rhs": True}
    found = await Counter(pool, []).preview.look(Offered(reward(when=when), around()), Look("bob"), {}, NOW)
    assert ([each.lock.value for each in found.locks], found.is_told, found.available) == (["points"], True, 0)


async def test_there_is_no_price_at_a_time_without_a_card(pool: Pool) -> None:
    with pytest.raises(Refused, match="SG"):
        await Counter(pool, []).preview.look(
            Offered(reward(), around()), Look("bob"), {}, datetime(1975, 1, 1, tzinfo=UTC)
        )
