"""Every member of a segment has one number, and no two have the same, whoever gives them at the same time."""

import asyncio

import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.platform.postgres import Pool, open_pool
from abacus.signals.segments.numbers import MemberNumbers
from tests.signals.segments.sets_of_members import erase
from tests.support.waiting import waiting

pytestmark = pytest.mark.once


async def test_numbers_are_dense_and_stay(pool: Pool) -> None:
    numbers = MemberNumbers(pool)
    assert await numbers.give([]) == {}
    assert await numbers.give(["bob", "ann", "bob"]) == {"bob": 0, "ann": 1}
    assert await numbers.give(["cid", "ann"]) == {"cid": 2, "ann": 1}
    assert await numbers.known(["ann", "zoe"]) == {"ann": 1}
    assert await numbers.members([2, 0, 9]) == ["bob", "cid"]


async def test_ids_of_every_kind_come_back(pool: Pool) -> None:
    ids = ["é" * 128, "a,b", 'say "hi"', "null", "{}", "\\", "日本", "a b"]
    assert set((await MemberNumbers(pool).give(ids)).values()) == set(range(len(ids)))
    assert await MemberNumbers(pool).members(range(len(ids))) == ids


@pytest.mark.parametrize("member_id", ["=1+1", "bo\u200bb"])
async def test_an_id_that_deceives_gets_no_number_but_for_a_member_of_before(pool: Pool, member_id: str) -> None:
    with pytest.raises(Refused, match=r"is no id for a new member: .*\(and 1 more\)$"):
        await MemberNumbers(pool).give(["bob", member_id, "+1"])
    assert await MemberNumbers(pool).known(["bob", member_id]) == {}
    await pool.execute("insert into account (member_id, program, country) values ($1, 'GRP', 'SG')", member_id)
    assert await MemberNumbers(pool).give(["bob", member_id]) == {"bob": 0, member_id: 1}
    assert await MemberNumbers(pool).give([member_id]) == {member_id: 1}


async def test_of_two_at_once_the_second_waits_and_takes_what_the_first_gave(pool: Pool) -> None:
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute("insert into member_number_next values ('members', 0)")
        await connection.execute("insert into member_number values ('bob', 0)")
        await connection.execute("update member_number_next set next = 1")
        second = asyncio.create_task(MemberNumbers(pool).give(["ann", "bob"]))
        await waiting(pool, second)
        await transaction.commit()
    assert await second == {"ann": 1, "bob": 0}


async def test_many_at_once_give_each_member_one_number(pool: Pool) -> None:
    """Overlapping batches, in different orders."""
    batches = [[f"m{(start * 37 + step * 11) % 400}" for step in range(150)] for start in range(12)]
    given = await asyncio.gather(*(MemberNumbers(pool).give(batch) for batch in batches))
    together: dict[str, int] = {}
    for batch, numbers in zip(batches, given, strict=True):
        assert numbers.keys() == set(batch)
        assert {**together, **numbers} == {**numbers, **together}, "each has the same number everywhere"
        together |= numbers
    assert sorted(together.values()) == list(range(len(together)))


async def test_the_number_of_an_erased_member_is_never_given_again(pool: Pool, database_url: str) -> None:
    numbers = MemberNumbers(pool)
    await numbers.give(["ann", "bob"])
    owner = await open_pool(database_url, size=1, role=None)
    await erase(owner, "bob")
    await owner.close()
    assert await numbers.give(["bob", "cid"]) == {"bob": 2, "cid": 3}
    assert await numbers.members([0, 1, 2, 3]) == ["ann", "bob", "cid"]


async def test_a_value_that_cannot_be_stored_gives_no_number(pool: Pool) -> None:
    numbers = MemberNumbers(pool)
    with pytest.raises(ValueError, match=r"U\+001F"):
        await numbers.give(["a\x1fb"])
    assert await numbers.give(["bob"]) == {"bob": 0}


async def test_while_the_table_is_held_the_database_is_away(pool: Pool, database_url: str) -> None:
    impatient = await open_pool(database_url, size=1, within_s=0.2)
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("insert into member_number_next values ('members', 0)")
        with pytest.raises(Unavailable):
            await MemberNumbers(impatient).give(["ann"])
    await impatient.close()
    assert await MemberNumbers(pool).give(["bob"]) == {"bob": 0}
