"""What is moved without a second person is summed by actor and by member, on every ledger there is: parts count as the
whole, however many come at once.
"""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Final

import pytest

from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.limits import Sums
from abacus.ledger.types.movement import Adjustment, Movement, Reversal
from abacus.platform.postgres import Pool
from tests.ledger.ledgers import NOW
from tests.ledger.moves import ACME, adjust, earn, fates, reverse, spend
from tests.life.ledgers import Living, LivingInMemory, LivingOnPostgres
from tests.support.fixed_clock import FixedClock

P, D, TWO, POOR = "posted", "duplicate", "second-person-needed", "insufficient-points"
ANN, BEN, PARTNER = "person:ann", "person:ben", ACME.source

BY_ACTOR: Final = Sums(actor_day=30, actor_month=50)
OF_MEMBER: Final = Sums(member_day=30, member_month=50)


def by(source: str, points: int, key: str, member: str = "bob", sums: Sums | None = BY_ACTOR) -> Adjustment:
    return adjust(points, key, member_id=member, actor=source.partition(":")[2], source=source, sums=sums)


def back(of: str, key: str, source: str = ANN, part: int | None = None) -> Reversal:
    return reverse(of, part, key, source=source, sums=BY_ACTOR)


# What is moved on some days, by the number of the day; the fate of each. Bob has earned 100 before.
CASES: Final[dict[str, list[tuple[int, list[Movement], list[str]]]]] = {
    "to the point": [(0, [by(ANN, 30, "a"), by(ANN, 1, "b")], [P, TWO])],
    "in parts of several batches": [(0, [by(ANN, 20, "a")], [P]), (0, [by(ANN, 11, "b"), by(ANN, 10, "c")], [TWO, P])],
    "of several members": [(0, [by(ANN, 20, "a"), by(ANN, 11, "b", "jane")], [P, TWO])],
    "taken points count as added ones": [(0, [by(ANN, 20, "a"), by(ANN, -11, "b"), by(ANN, -10, "c")], [P, TWO, P])],
    "each actor has its own": [(0, [by(ANN, 30, "a"), by(BEN, 30, "b"), by(PARTNER, 30, "api:acme:c")], [P, P, P])],
    "a partner's": [(0, [by(PARTNER, 30, "api:acme:a"), by(PARTNER, 1, "api:acme:b")], [P, TWO])],
    "all logins are one": [(0, [by("login:root@here", 30, "a"), by("login:eve@there", 1, "b")], [P, TWO])],
    "a day begins anew, a month goes on": [
        (0, [by(ANN, 30, "a")], [P]),
        (1, [by(ANN, 21, "b"), by(ANN, 20, "c")], [TWO, P]),
        (2, [by(ANN, 1, "d")], [TWO]),
    ],
    "a month is 30 days": [
        (0, [by(ANN, 30, "a")], [P]),
        (29, [by(ANN, 21, "b")], [TWO]),
        (30, [by(ANN, 30, "c")], [P]),
    ],
    "a clock that is behind counts what one ahead has": [
        (1, [by(ANN, 30, "a")], [P]),
        (0, [by(ANN, 1, "b")], [TWO]),
    ],
    "of one member, by whomever": [
        (0, [by(ANN, 20, "a", sums=OF_MEMBER), by(BEN, 11, "b", sums=OF_MEMBER)], [P, TWO]),
        (0, [by(BEN, 30, "c", "jane", sums=OF_MEMBER)], [P]),
        (1, [by(BEN, 30, "d", sums=OF_MEMBER)], [P]),
        (2, [by(BEN, 1, "e", sums=OF_MEMBER)], [TWO]),
    ],
    "what two agreed on does not count": [(0, [by(ANN, 31, "a", sums=None), by(ANN, 30, "b")], [P, P])],
    "what is refused does not count": [(0, [by(ANN, -30, "a", "jane"), by(ANN, 30, "b")], [POOR, P])],
    "the same again counts once": [(0, [by(ANN, 30, "a"), by(ANN, 30, "a")], [P, D]), (0, [by(ANN, 30, "a")], [D])],
    "what is too much is free to be agreed on": [
        (0, [by(ANN, 30, "a"), by(ANN, 9, "b")], [P, TWO]),
        (0, [by(ANN, 9, "b", sums=None)], [P]),
    ],
    "reversals count with adjustments": [
        (0, [by(ANN, 20, "a")], [P]),
        (0, [back("txn:rides:1", "r", part=11), back("txn:rides:1", "s", part=10)], [TWO, P]),
    ],
    "reversals of several transfers": [
        (0, [by(BEN, 20, "a"), by(BEN, 20, "b", sums=None)], [P, P]),
        (0, [back("a", "r"), back("b", "s")], [P, TWO]),
    ],
    "a partner takes back its own": [
        (0, [spend(60)], [P]),
        (0, [back("api:acme:1", "r", PARTNER), by(PARTNER, 30, "api:acme:a")], [P, P]),
    ],
}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture(params=["memory", "postgres"])
def ledger(request: pytest.FixtureRequest, clock: FixedClock) -> Living:
    if request.param == "memory":
        return LivingInMemory(clock)
    return LivingOnPostgres(request.getfixturevalue("pool"), clock)


@pytest.mark.parametrize("name", CASES)
async def test_what_takes_a_second_person(ledger: Living, clock: FixedClock, name: str) -> None:
    await ledger.post([earn(100)])
    for day, movements, expected in CASES[name]:
        clock.set(NOW + timedelta(days=day))
        together = await fates(ledger, movements)
        assert together == expected


async def test_of_thirty_at_once_as_many_pass_as_one_after_the_other(pool: Pool, clock: FixedClock) -> None:
    """Each is a round of its own, of other members: in a ledger in slices, of other slices."""
    orders = [by(ANN, 10, f"k{number}", f"m{number}") for number in range(30)]
    moved = await asyncio.gather(*(PostgresMoves(pool, clock).move([order]) for order in orders))
    assert Counter(fate.status.value for (fate,) in moved) == {"posted": 3, "refused": 27}
    assert await pool.fetchval("select sum(points) from transfer") == 30
    rows = await pool.fetch("select whose, points from moved_alone where whose not like 'member:%'")
    assert [tuple(row) for row in rows] == [(ANN, 30)]


async def test_days_that_count_no_more_are_forgotten(pool: Pool, clock: FixedClock) -> None:
    moves = PostgresMoves(pool, clock)
    for day in (0, 1, 30):
        clock.set(NOW + timedelta(days=day))
        await moves.move([by(ANN, 1, f"k{day}")])
    days = await pool.fetch("select day from moved_alone where whose = $1 order by day", ANN)
    assert [(row["day"] - NOW.date()).days for row in days] == [1, 30]
