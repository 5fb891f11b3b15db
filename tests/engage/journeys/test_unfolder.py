"""What is done for members together is one row, which becomes an action for each, once."""

import asyncio
from collections.abc import Sequence

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.journeys.decide.packs import Pack, Place
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.deed_actions import Unfolded
from abacus.engage.journeys.deed_rows import DeedRow
from abacus.engage.journeys.mover import Mover, anywhere
from abacus.engage.journeys.pack_rows import put
from abacus.platform import slices
from abacus.platform.postgres import Pool
from tests.engage.campaigns.offers import NOW
from tests.engage.journeys.test_walks import number, walks
from tests.engage.journeys.travelling import any_visit, entry
from tests.engage.journeys.unfolding import NEXT_DAY, House, through


async def test_one_row_for_all_becomes_an_action_for_each(pool: Pool) -> None:
    house = House(pool, "welcome")
    of = await through(house, range(20))
    parts = len(await slices.slices_of(pool))
    assert (await house.keys(), await house.decided()) == ([], 40)
    assert await pool.fetchval("select count(*) from journey_deed") <= 2 * parts
    assert await pool.fetchval("select count(*) from seat where why = 'through'") == 20
    assert await pool.fetchval("select count(*) from pack") == 0
    await house.unfold()
    hello, gift = number(of, "hello"), number(of, "gift")
    assert await house.keys() == sorted(
        f"journey:welcome:1:m{each}:{node}" for each in range(20) for node in (hello, gift)
    )
    assert (await house.decided(), await house.unfold()) == (0, 0)
    rows = await pool.fetch(
        "select distinct owner, version, receiver, decided_at, due_at from action order by receiver"
    )
    assert [tuple(row) for row in rows] == [
        ("welcome", 1, receiver, NEXT_DAY, NEXT_DAY) for receiver in ("awards", "messages")
    ]


async def test_who_is_moved_back_is_not_given_the_same_again(pool: Pool) -> None:
    house = House(pool, "welcome")
    of = await through(house, [1, 2])
    await house.unfold()
    before = await house.keys()
    for slice_ in await slices.slices_of(pool):
        async with slice_.within() as connection:
            rows = await connection.fetch(
                "update seat set left_at = null, why = null where member_id = 'm1' returning member"
            )
            if rows:
                place = Place("welcome", awaits=False, version=1, node=number(of, "day"), turn=0, zone="UTC", arm=None)
                await put(connection, [Pack(*place, due=NOW, id=1, members=[1], visits=[1])])
    assert (await house.run(of), await house.decided()) == (1, 2)
    await house.unfold()
    assert (await house.keys(), await house.decided()) == (before, 0)


async def test_nothing_is_done_for_members_who_were_erased_meanwhile(pool: Pool) -> None:
    """Their seats are under pseudonyms."""
    house = House(pool, "welcome")
    (of,) = house.journeys.values()
    erased = entry(7)._replace(member_id="erased-7")
    slice_ = await slices.slice_of(pool, erased.member_id)
    await house.moving.enter(slice_, [erased], any_visit, number(of, "day"))
    await through(house, [1])
    assert await house.decided() == 4
    await house.unfold()
    assert ({key.split(":")[3] for key in await house.keys()}, await house.decided()) == ({"m1"}, 0)


async def test_after_a_fault_the_deed_is_as_before(pool: Pool) -> None:
    house = House(pool, "welcome")
    await through(house, [1])
    other = House(pool, "farewell")  # which knows nothing of the version
    slice_ = await slices.slice_of(pool, "m1")
    with pytest.raises(KeyError):
        await other.unfolder.unfold(slice_, "welcome")
    assert (await house.decided(), await house.keys()) == (2, [])
    await house.unfold()
    assert (await house.decided(), len(await house.keys())) == (0, 2)


async def test_a_journey_whose_deeds_cannot_be_made_now_holds_up_no_other(pool: Pool) -> None:
    house = House(pool, "welcome", "farewell")
    for of in house.journeys.values():
        await house.come_in(of, [1])
    house.clock.set(NEXT_DAY)
    assert [await house.run(of) for of in house.journeys.values()] == [1, 1]

    async def actions(deed: DeedRow, seats: Sequence[Seat]) -> Unfolded:
        if deed.journey == "welcome":
            raise Unavailable("journeys", "SG has no rate card")
        return await house.actions(deed, seats)

    unfolder = house.unfolder_by(actions)
    while await unfolder.round(asyncio.Event()):
        pass
    assert [key.split(":")[1] for key in await house.keys()] == ["farewell", "farewell"]
    assert await house.decided() == 2


async def test_few_members_do_not_wait_behind_a_herd(pool: Pool) -> None:
    """One round takes deeds of each journey."""
    house = House(pool, "welcome", "farewell")
    herd, few = house.journeys.values()
    await house.come_in(herd, range(600))
    await house.come_in(few, range(3))
    house.clock.set(NEXT_DAY)
    assert (await house.run(herd), await house.run(few)) == (600, 3)
    for done in (3, 6):  # a deed in the first round, which tells how many members deeds have
        await house.unfolder.round(asyncio.Event())
        assert len([key for key in await house.keys() if key.startswith("journey:farewell:")]) == done


async def test_who_left_amid_a_step_does_not_go_on(pool: Pool) -> None:
    house = House(pool, "welcome")
    (of,) = house.journeys.values()
    await house.come_in(of, [1, 2])
    house.clock.set(NEXT_DAY)
    walking = walks(of)

    async def left(parties: Sequence[object], now: object) -> object:
        async with slices.at(pool, "m1") as connection:
            await connection.execute("update seat set left_at = now(), why = 'bought' where member_id = 'm1'")
        return await walking.together(parties, now)  # type: ignore[arg-type]  # as they came

    house.moving = Mover(walking, house.clock, anywhere, left)  # type: ignore[arg-type]  # the same
    await house.run(of)
    assert await house.decided() == 2
    rows = await pool.fetch("select member_id, why from seat order by member_id")
    assert [tuple(row) for row in rows] == [("m1", "bought"), ("m2", "through")]
