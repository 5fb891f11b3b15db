"""Redemptions on a real ledger: all or nothing, once, whoever else asks and wherever a process dies."""

import asyncio
from collections import Counter as Tally
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from abacus.core.errors import Absent, Unavailable
from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.engage.rewards.pools import POOL_KEYS, CodeLoader, rewrap_codes
from abacus.engage.rewards.redeemer import KeyReused
from abacus.engage.rewards.redemption_desk import RedemptionState
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.movement import Because, Capture, Moved, Movement, Release, Reserve
from abacus.platform.encryption import Secrets, SecretUnreadable, new_keyring_text
from abacus.platform.postgres import Pool
from abacus.platform.secret_rotation import rewrap
from tests.support.rewards import NOW, Counter, give_points, load_codes, reward
from tests.support.waiting import waiting

AT_ONCE = timedelta(0)


async def test_points_become_a_code_which_the_key_answers_again(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["AAA", "BBB", "AAA"])
    at = Counter(pool, [reward()])
    first = await at.redeem("1")
    assert (first.stage, first.points, await at.desk.codes(first)) == ("given", 500, ["AAA"])
    assert await at.points() == (700, 0)
    again = await at.redeem("1")
    assert (again, await at.desk.codes(again)) == (first, ["AAA"])
    second = await at.redeem("2")
    assert await at.desk.codes(second) == ["BBB"]
    assert await at.points() == (200, 0)
    with pytest.raises(KeyReused):
        await at.redeem("1", quantity=2)


@pytest.mark.parametrize(
    ("document", "before", "lock"),
    [
        ({}, 0, Lock.CODES),
        ({"price": {"points": 2000}}, 0, Lock.POINTS),
        ({"limits": {"uses": {"overall": 1}}}, 1, Lock.STOCK),
        ({"limits": {"uses": {"day": 1}}}, 1, Lock.DAY),
        ({"limits": {"uses": {"member": 1}}}, 1, Lock.MEMBER),
        ({"limits": {"uses": {"member_day": 1}}}, 1, Lock.MEMBER_DAY),
        ({"when": {"operator": "eq", "lhs": "segment.regulars", "rhs": True}}, 0, Lock.AUDIENCE),
    ],
)
async def test_what_cannot_be_had_takes_nothing(
    pool: Pool, document: dict[str, object], before: int, lock: Lock
) -> None:
    """And the same key is told the same again."""
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, [f"C{n}" for n in range(before or 0)] + (["D"] if lock is not Lock.CODES else []))
    at = Counter(pool, [reward(**document)]) if lock is not Lock.CODES else Counter(pool, [reward()])
    if lock is Lock.CODES:
        await pool.execute("update reward_pool set given = loaded")
    for number in range(before):
        await at.redeem(f"before {number}")
    stood = await at.points()
    for _ in range(2):
        with pytest.raises(Locked) as refused:
            await at.redeem("1")
        assert refused.value.lock is lock
    assert await at.points() == stood == (1200 - 500 * before, 0)


async def test_nobody_has_heard_of_it(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    with pytest.raises(Absent):
        await Counter(pool, []).redeem("1")


async def test_several_pieces_and_a_part_in_money(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A", "B", "C"])
    money = {"points": 500, "money": {"least_points": 200, "point_pays": "0.01"}}
    at = Counter(pool, [reward(price=money)])
    bought = await at.redeem("1", quantity=2, points=700)
    assert (bought.points, str(bought.money), await at.desk.codes(bought)) == (700, "3.00", ["A", "B"])
    assert await at.points() == (500, 0)
    with pytest.raises(Locked, match="at least 200"):
        await at.redeem("2", points=199)


async def test_a_pool_of_a_hundred_under_32_callers(pool: Pool) -> None:
    """Each code goes to one member, each member pays for what it has, and the stock is met exactly."""
    members = [f"m{number}" for number in range(32)]
    await give_points(pool, members, 5000)
    await load_codes(pool, [f"C{number}" for number in range(100)])
    counters = [Counter(pool, [reward(limits={"uses": {"overall": 90}})]) for _ in range(2)]
    got: Tally[str] = Tally()
    codes: list[str] = []

    async def buy(place: int) -> None:
        at = counters[place % 2]
        for number in range(8):
            with suppress(Locked):
                bought = await at.redeem(f"{place}-{number}", members[place])
                got[members[place]] += 1
                codes.extend(await at.desk.codes(bought))

    await asyncio.gather(*map(buy, range(32)))
    assert len(codes) == len(set(codes)) == got.total() == 90
    for member in members:
        assert await counters[0].points(member) == (5000 - 500 * got[member], 0)
    assert await pool.fetchval("select pieces from reward_use where period = ''") == 90


class Dies(Exception):
    """In place of a process that is killed."""


class Dying:
    """`MovesPort` that dies before or after movements of a kind."""

    def __init__(self, moves: PostgresMoves, kind: type, *, after: bool) -> None:
        self._moves = moves
        self._kind = kind
        self._after = after

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        dies = any(isinstance(each, self._kind) for each in movements)
        if dies and not self._after:
            raise Dies
        moved = await self._moves.move(movements)
        if dies:
            raise Dies
        return moved


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("kind", [Reserve, Capture])
async def test_whoever_finds_it_unfinished_goes_on(pool: Pool, kind: type, after: bool) -> None:  # noqa: FBT001  # a case
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A", "B"])
    at = Counter(pool, [reward()])
    dying = Counter(pool, [reward()], moves=Dying(PostgresMoves(pool, at.clock), kind, after=after))
    with pytest.raises(Dies):
        await dying.redeem("1")
    assert await at.redeemer.finish_stale(AT_ONCE) == 1
    found = await at.redeem("1")
    assert (found.stage, await at.desk.codes(found), await at.points()) == ("given", ["A"], (700, 0))
    assert await at.redeemer.finish_stale(AT_ONCE) == 0


@pytest.mark.parametrize("after", [False, True])
async def test_a_refused_one_is_let_go_by_whoever_finds_it(pool: Pool, after: bool) -> None:  # noqa: FBT001  # a case
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A"])
    at = Counter(pool, [reward()])
    dying = Counter(pool, [reward()], moves=Dying(PostgresMoves(pool, at.clock), Release, after=after))
    await at.redeem("1")
    with pytest.raises(Dies):
        await dying.redeem("2")
    assert await at.redeemer.finish_stale(AT_ONCE) == 1
    assert await at.points() == (700, 0)


async def test_a_refused_one_ends_also_where_somebody_has_let_its_points_go(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A"])
    at = Counter(pool, [reward()])
    moves = PostgresMoves(pool, at.clock)
    dying = Counter(pool, [reward()], moves=Dying(moves, Release, after=False))
    await at.redeem("1")
    with pytest.raises(Dies):
        await dying.redeem("2")
    await moves.move([released_by_hand(await pool.fetchrow("select * from hold where status = 'open'"))])
    assert await at.redeemer.finish_stale(AT_ONCE) == 1
    assert await at.points() == (700, 0)


async def test_rewards_that_share_a_pool_give_each_code_once(pool: Pool) -> None:
    """Who comes second waits, and gets the code behind that of the first."""
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A", "B"])
    at = Counter(pool, [reward()])
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("update reward_pool set given = 1")
        await connection.execute("update reward_code set redemption_id = gen_random_uuid() where place = 1")
        second = asyncio.create_task(at.redeem("1"))
        await waiting(pool, second)
    assert await at.desk.codes(await second) == ["B"]


def released_by_hand(hold: Any) -> Release:
    key, program, whose = "release:x", hold["program"], hold["member_id"]
    return Release(key, whose, program, "SG", "x", "shop", "partner:shop", hold["hold_id"], Because.RELEASED)


async def test_points_that_were_let_go_meanwhile_give_the_code_back(pool: Pool) -> None:
    """The caller releases the hold itself: nobody has the code, and the next one gets it."""
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A"])
    at = Counter(pool, [reward(limits={"uses": {"overall": 1}})])
    moves = PostgresMoves(pool, at.clock)
    dying = Counter(pool, [reward(limits={"uses": {"overall": 1}})], moves=Dying(moves, Capture, after=False))
    with pytest.raises(Dies):
        await dying.redeem("1")
    await moves.move([released_by_hand(await pool.fetchrow("select * from hold"))])
    await at.redeemer.finish_stale(AT_ONCE)
    with pytest.raises(Locked) as refused:
        await at.redeem("1")
    assert refused.value.lock is Lock.HOLD
    assert await at.points() == (1200, 0)
    bought = await at.redeem("2")
    assert await at.desk.codes(bought) == ["A"]


async def test_a_reward_that_ended_meanwhile_takes_nothing(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A"])
    over = Counter(pool, [])
    dying = Counter(pool, [reward()], moves=Dying(PostgresMoves(pool, over.clock), Reserve, after=True))
    with pytest.raises(Dies):
        await dying.redeem("1")
    await over.redeemer.finish_stale(AT_ONCE)
    assert await over.points() == (1200, 0)


async def test_a_return_brings_points_back_with_the_day_that_they_had(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A", "B"])
    at = Counter(pool, [reward(limits={"uses": {"overall": 1}})])
    before = await pool.fetchrow("select expires_on from account")
    bought = await at.redeem("1")
    for _ in range(2):
        assert (await at.desk.bring_back(bought)).stage == "returned"
    assert await at.points() == (1200, 0)
    assert await pool.fetchrow("select expires_on from account") == before
    with pytest.raises(Locked) as refused:
        await at.redeem("2")
    assert refused.value.lock is Lock.STOCK, "the code was seen"


async def test_what_is_not_delivered_is_cancelled_and_its_piece_is_there_again(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    delivery = {"webhook": "vouchers", "partner": "voucher_house"}
    at = Counter(pool, [reward(delivery=delivery, limits={"uses": {"overall": 1}})])
    sent = await at.redeem("1")
    assert (sent.stage, await at.points()) == ("sent", (700, 0))
    assert sent.status(at.clock.now() + timedelta(hours=2)) == "late"
    assert (await at.desk.cancel(sent)).stage == "cancelled"
    assert await at.points() == (1200, 0)
    other = await at.redeem("2")
    assert (await at.desk.report(other, fulfilled=True, detail=None)).stage == "fulfilled"
    fulfilled = await at.desk.one("bob", other.redemption_id)
    assert fulfilled is not None
    with pytest.raises(RedemptionState, match="the redemption is fulfilled"):
        await at.desk.cancel(fulfilled)


async def test_a_server_that_is_away_leaves_it_to_be_gone_on_with(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A"])

    class Away:
        async def move(self, _: Sequence[Movement]) -> list[Moved]:
            raise Unavailable("ledger", "away")

    with pytest.raises(Unavailable):
        await Counter(pool, [reward()], moves=Away()).redeem("1")
    at = Counter(pool, [reward()])
    await at.redeemer.finish_stale(AT_ONCE)
    assert (await at.redeem("1")).stage == "given"


async def test_codes_are_encrypted_anew_under_another_key(pool: Pool) -> None:
    """And a code that is there is known whatever key it is under."""
    old, new = new_keyring_text("old"), new_keyring_text("new")
    before, both, after = (Secrets.of(each) for each in (old, f"{new},{old}", new))
    await load_codes(pool, ["A", "B"], secrets=before)
    await rewrap(pool, both, [POOL_KEYS])
    assert (await rewrap_codes(pool, both))[:2] == (2, 0)
    assert (await rewrap_codes(pool, both))[:2] == (0, 2)
    assert await CodeLoader(pool, after).load("coffee_codes", iter(["B", "C"]), NOW) == (1, 1)
    with pytest.raises(SecretUnreadable):
        await CodeLoader(pool, before).load("coffee_codes", iter(["B"]), NOW)
