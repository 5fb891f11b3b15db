"""The ageing report, the preview and the month's end name the same points for each month, whatever is held."""

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from string import ascii_uppercase
from typing import Final, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abacus.core.ids import award_id
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.movement import Movement, Reserve, Reversal, Spend
from abacus.oversight.reports.accounts import HELD, ageing
from abacus.platform.postgres import snapshot
from abacus.pricing.decide.card import OnShortfall
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.lapsing_sql import preview
from abacus.programs.expiry.sweep import Task
from tests.programs.expiry.office import SINGAPORE, Office
from tests.support.awards import award
from tests.support.tries import tries

MONTHS: Final = [Month(2026, number) for number in range(7, 11)]
JUNE: Final = datetime(2026, 6, 1, 12, tzinfo=UTC)
AFTER_ALL: Final = datetime(2026, 12, 1, 12, tzinfo=UTC)
COUNTRIES: Final = map("".join, itertools.product(ascii_uppercase, repeat=2))  # one a life: a month's end is done once
FACTS: Final = "0" * 16


class Member(NamedTuple):
    """Lots as points and the number of a month, then what was spent, taken back of the first lot, and is held."""

    lifetime: bool
    lots: list[tuple[int, int]]
    spent: int
    taken_back: int
    held: int


members = st.builds(
    Member,
    lifetime=st.booleans(),
    lots=st.lists(st.tuples(st.integers(1, 40), st.integers(0, 3)), min_size=1, max_size=5),
    spent=st.integers(0, 60),
    taken_back=st.integers(0, 40),
    held=st.integers(0, 60),
)


async def live(office: Office, member_id: str, country: str, member: Member) -> None:
    """Movements that the account refuses come to nothing."""
    awards = [
        award(
            key=f"txn:rides:{member_id}-{number}",
            member_id=member_id,
            country=country,
            points=points,
            expires_on=MONTHS[month].last_day,
            lifetime=member.lifetime,
        )
        for number, (points, month) in enumerate(member.lots)
    ]
    await office.ledger.post(awards)
    who, by = (member_id, "GRP", country, FACTS), ("acme", "partner:acme")
    key = f"api:acme:{member_id}"
    movements: Sequence[Movement] = [
        Spend(f"{key}-spend", *who, member.spent, "a coffee", *by),
        Reversal(
            key=f"{key}-back",
            member_id=member_id,
            program="GRP",
            country=country,
            fingerprint=FACTS,
            reverses=awards[0].key,
            part=member.taken_back,
            on_shortfall=OnShortfall.CLIP,
            card="SG@1",
            reason=None,
            actor=None,
            source="stream",
            occurred_at=JUNE,
            expires_on=MONTHS[0].last_day,
            lifetime=member.lifetime,
        ),
        Reserve(f"{key}-hold", *who, member.held, "a table", *by, award_id(key), AFTER_ALL),
    ]
    moves = PostgresMoves(office.pool, office.clock)
    for movement in movements:
        await moves.move([movement])


async def taken(office: Office, country: str, month: Month) -> int:
    """The points that the month's end takes."""
    await office.sweep(Task(country, month, SINGAPORE))
    await office.expire()
    (run,) = await office.runs.all(country, month)
    return run.points


@pytest.mark.long
@settings(
    max_examples=tries(by_day=6, by_night=12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(lives=st.lists(members, min_size=1, max_size=4))
async def test_all_three_say_the_same(office: Office, lives: list[Member]) -> None:
    country = next(COUNTRIES)
    office.clock.set(JUNE)
    for number, member in enumerate(lives):
        await live(office, f"{country}-m{number}", country, member)
    async with snapshot(office.pool) as connection:
        aged = {due.lapses: due.points for due in await ageing(connection) if due.country == country}
    expected = [
        sum(each.points for each in await preview(office.pool, country, month, with_earlier=False)) for month in MONTHS
    ]
    assert [aged.get(str(month), 0) for month in MONTHS] == expected
    office.clock.set(AFTER_ALL)
    assert [await taken(office, country, month) for month in MONTHS] == expected
    left = await office.pool.fetchrow("select sum(balance), sum(held) from account where country = $1", country)
    assert left[0] == left[1] == aged.get(HELD, 0)
