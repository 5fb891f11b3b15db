"""The bound of new keys on the real stack: keys beyond it do not count, known keys go on, and it is told."""

import random
from collections.abc import Mapping
from typing import Any, Final

import asyncpg
import pytest

from abacus.platform.metrics import total
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.metrics import COUNTER_NOT_COUNTED
from tests.signals.counters.counting import CountingHouse
from tests.signals.counters.rides import FARES_OF_CITY, RIDES_OF_MEMBER, Ride, Sums, plain_count, ride, rides
from tests.support.commands import abacus

ROOM: Final = 6
BOUNDED: Final[Mapping[str, Any]] = {**RIDES_OF_MEMBER, "new_keys_per_day": ROOM}
LABELS: Final = {"definition": "rides_of_member", "reason": "new-key"}


def keys(sums: Sums, definition: Definition) -> set[str]:
    return {key for key, _ in sums if key.startswith(definition.space)}


def of_keys(sums: Sums, counted: set[str]) -> Sums:
    return {(key, slot): units for (key, slot), units in sums.items() if key in counted}


def of_members(sent: list[Ride], definition: Definition, counted: set[str]) -> list[Ride]:
    return [each for each in sent if definition.stored_key(f"rides:member:m{each.member}") in counted]


async def test_keys_beyond_the_bound_do_not_count_and_are_told(counting: CountingHouse) -> None:
    members, fares = await counting.publish(BOUNDED, FARES_OF_CITY)
    sent, before = rides(300, random.Random(1)), total(COUNTER_NOT_COUNTED, **LABELS)
    await counting.send(sent)
    async with counting.house.running("counter"):
        await counting.seen(300)
    sums = await counting.sums()
    counted = keys(sums, members)
    assert len(counted) == ROOM
    assert sums == {**of_keys(plain_count(sent, [members]), counted), **plain_count(sent, [fares])}

    refused = len(sent) - len(of_members(sent, members, counted))
    assert total(COUNTER_NOT_COUNTED, **LABELS) - before == refused
    env = counting.house.environment()
    shown = (await abacus("counters", "show", "rides_of_member", "--json", env=env)).json
    assert shown["definition"]["new_keys_per_day"] == ROOM
    assert [(each["admitted"], each["refused"]) for each in shown["new_keys"]] == [(ROOM, refused)]
    account = (await abacus("counters", "reconcile", "--json", env=env)).json
    assert account["comes_out"]
    assert [(each["counter"], each["refused"]) for each in account["refused_keys"]] == [("rides_of_member@1", refused)]
    printed = (await abacus("counters", "reconcile", env=env)).out
    assert f"rides_of_member@1 had {ROOM} new keys on " in printed
    assert f", and refused {refused} events of more" in printed


async def test_keys_that_counted_before_go_on_when_the_day_has_no_room(counting: CountingHouse) -> None:
    """Cities ride in every partition: a city that counts in one is no new key in another."""
    (fares,) = await counting.publish({**FARES_OF_CITY, "new_keys_per_day": 1})
    first = [ride(number, member=number, city=1) for number in range(2)]
    later = [ride(100 + number, member=number, city=number % 3) for number in range(60)]
    async with counting.house.running("counter"):
        await counting.send(first)
        await counting.seen(2)
        await counting.send(later)
        await counting.seen(62)
    assert await counting.sums() == plain_count([each for each in [*first, *later] if each.city == 1], [fares])


@pytest.mark.long
async def test_keys_of_a_version_of_before_there_was_a_bound_go_on(counting: CountingHouse) -> None:
    """Nothing remembers its keys but their counts."""
    (members,) = await counting.publish(RIDES_OF_MEMBER)
    old, new = (
        [ride(number, member=number) for number in range(8)],
        [ride(50 + each, member=each) for each in range(12)],
    )
    async with counting.house.running("counter"):
        await counting.send(old)
        await counting.seen(8)
    owner = await asyncpg.connect(counting.house.settings.database_url)
    for (schema,) in await owner.fetch("select schemaname from pg_tables where tablename = 'counter_partition'"):
        await owner.execute(f"delete from {schema}.counter_row where slot >= 4 << 28")
    await owner.execute("truncate counter_new_keys")
    await owner.execute("alter table counter_definition disable trigger user")
    await owner.execute("update counter_definition set document = document - 'new_keys_per_day'")
    await owner.close()
    async with counting.house.running("counter"):
        await counting.send(new)
        await counting.seen(20)
    assert await counting.sums() == plain_count([*old, *new], [members])
    shown = (await abacus("counters", "show", "rides_of_member", "--json", env=counting.house.environment())).json
    assert [each["admitted"] for each in shown["new_keys"]] == [4]  # the others are known by their rows
    assert shown["definition"]["new_keys_per_day"] == 1_000_000


@pytest.mark.long
@pytest.mark.services
@pytest.mark.parametrize("counting", ["postgres", pytest.param("cassandra", marks=pytest.mark.night)], indirect=True)
async def test_kill_9_again_and_again_keeps_the_bound_and_the_counts_exact(counting: CountingHouse) -> None:
    rng = random.Random(5)
    sent = [each._replace(member=rng.randrange(400)) for each in rides(2000, rng)]
    members, fares = await counting.publish({**BOUNDED, "new_keys_per_day": 90}, FARES_OF_CITY)
    seen = 0
    for start in range(4):
        async with counting.house.process("counter") as worker:
            wave = sent[start::4]
            repeated = rng.sample(wave, 50)
            await counting.send([*wave, *repeated])
            await counting.seen(seen + rng.randint(1, 400))  # somewhere in the middle of the wave
            worker.kill()
        seen += len(wave) + len(repeated)
    async with counting.house.process("counter"):
        await counting.seen(seen)
    sums = await counting.sums()
    counted = keys(sums, members)
    assert len(counted) <= 90
    assert sums == {**of_keys(plain_count(sent, [members]), counted), **plain_count(sent, [fares])}
    admitted = await counting.house.pool.fetchval("select sum(admitted) from counter_new_keys where definition_id = 1")
    assert admitted == len(counted)
