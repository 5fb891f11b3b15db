"""Rewards that are invitations to an offer, or points of another program: delivered once, and taken back."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import pytest

from abacus.engage.offers.gifts import invited_to
from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.engage.rewards.redemption_desk import RedemptionState
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import decode_envelope
from abacus.ledger.types.movement import Capture, Moved, Movement, Reversal
from abacus.oversight.reconcile.rewards import reward_books
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sqs.packer import pack
from tests.support.offers import LUNCH, run_offers
from tests.support.rewards import Counter, give_points, reward

AT_ONCE: Final = timedelta(0)
INVITED: Final[Mapping[str, Any]] = {**LUNCH, "name": "lunch_invited", "audience": "invitation"}
BY_INVITATION: Final = reward(delivery={"offer": "lunch_invited"}, limits={"uses": {"overall": 2}})
AS_POINTS: Final = reward(delivery={"program": "OVO", "points": 200})


async def use(pool: Pool, member: str = "bob") -> None:
    """The member reserves the offer."""
    async with slices.at(pool, member) as connection:
        await connection.execute(
            "insert into offer_reservation (key, member_id, reservation_id, offer, version, country, caller,"
            " fingerprint, items, currency, saves, points, cost, day, pots, reserved_at, until, status)"
            " values ('r', $1, gen_random_uuid(), 'lunch_invited', 1, 'SG', 'partner:shop', '0', '[]', 'SGD', 1, 0, 1,"
            " current_date, 0, now() + interval '1 second', now() + interval '9 minutes', 'held')",
            member,
        )


async def send_awards(pool: Pool) -> list[tuple[str, str, int]]:
    """Posts what waits for the award queue; returns the key, the program and the points of each."""
    rows = await slices.rows(pool, ("select document from action where receiver = 'awards'",))
    (body,) = pack("awards", [bytes(row["document"]) for row in rows])
    awards = decode_envelope(body).awards
    await PostgresLedger(pool, Counter(pool, []).clock).post(awards)
    return [(each.key, each.program, each.points) for each in awards]


@pytest.fixture
async def lunch(pool: Pool) -> Pool:
    await run_offers(pool, INVITED)
    await give_points(pool, ["bob"], 1200)
    return pool


async def test_an_invitation_is_paid_for_once(lunch: Pool) -> None:
    at = Counter(lunch, [BY_INVITATION])
    first = await at.redeem("1")
    assert (first.stage, await invited_to(lunch, "bob"), await at.points()) == ("given", frozenset({1}), (700, 0))
    assert await at.redeem("1") == first
    for quantity in (1, 2):
        with pytest.raises(Locked) as refused:
            await at.redeem(f"again {quantity}", quantity=quantity)
        assert refused.value.lock is (Lock.INVITED if quantity == 1 else Lock.MEMBER)
    assert await at.points() == (700, 0)
    assert await reward_books(lunch) == (1, 0, [])


async def test_two_at_once_pay_for_one_invitation(lunch: Pool) -> None:
    counters = [Counter(lunch, [BY_INVITATION]) for _ in range(2)]
    found = await asyncio.gather(*(at.redeem(str(n)) for n, at in enumerate(counters)), return_exceptions=True)
    assert sorted(isinstance(each, Locked) for each in found) == [False, True]
    assert await counters[0].points() == (700, 0)
    assert await lunch.fetchval("select pieces from reward_use where period = ''") == 1
    assert (await reward_books(lunch)).faults == []


@pytest.mark.parametrize("how", ["cancel", "bring_back"])
async def test_an_invitation_that_is_not_used_goes_back(lunch: Pool, how: str) -> None:
    at = Counter(lunch, [BY_INVITATION])
    bought = await at.redeem("1")
    for _ in range(2):
        assert (await getattr(at.desk, how)(bought)).stage in {"cancelled", "returned"}
    assert (await invited_to(lunch, "bob"), await at.points()) == (frozenset(), (1200, 0))
    assert await lunch.fetchval("select pieces from reward_use where period = ''") == (1 if how == "bring_back" else 0)
    assert await reward_books(lunch) == (1, 0, [])
    assert (await at.redeem("2")).stage == "given"


async def test_an_invitation_that_is_used_stays(lunch: Pool) -> None:
    at = Counter(lunch, [BY_INVITATION])
    bought = await at.redeem("1")
    await use(lunch)
    for goes in (at.desk.cancel, at.desk.bring_back):
        with pytest.raises(RedemptionState, match="the redemption is given: the offer lunch_invited is used"):
            await goes(bought)
    assert (await invited_to(lunch, "bob"), await at.points()) == (frozenset({1}), (700, 0))
    assert await reward_books(lunch) == (1, 0, [])


async def test_an_offer_that_is_over_takes_nothing(lunch: Pool) -> None:
    at = Counter(lunch, [BY_INVITATION])
    dying = Counter(lunch, [BY_INVITATION], moves=Dying(PostgresMoves(lunch, at.clock), Reversal))
    await lunch.execute("update offer set status = 'ended'")
    for counter in (at, dying):
        with pytest.raises(Locked, match="the offer lunch_invited is not in force"):
            await counter.redeem("1")
    assert await at.points() == (1200, 0)


class Dies(Exception):
    """In place of a process that is killed."""


class Dying:
    """`MovesPort` that dies before movements of a kind."""

    def __init__(self, moves: PostgresMoves, kind: type) -> None:
        self._moves = moves
        self._kind = kind

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        if any(isinstance(each, self._kind) for each in movements):
            raise Dies
        return await self._moves.move(movements)


@pytest.mark.parametrize("is_over", [False, True])
async def test_whoever_finds_an_invitation_goes_on(lunch: Pool, is_over: bool) -> None:  # noqa: FBT001  # a case
    """The member was invited before the points were paid; what happens to the offer then changes nothing."""
    at = Counter(lunch, [BY_INVITATION])
    dying = Counter(lunch, [BY_INVITATION], moves=Dying(PostgresMoves(lunch, at.clock), Capture))
    with pytest.raises(Dies):
        await dying.redeem("1")
    if is_over:
        await lunch.execute("update offer set status = 'ended'")
    assert await at.redeemer.finish_stale(AT_ONCE) == 1
    assert ((await at.redeem("1")).stage, await invited_to(lunch, "bob"), await at.points()) == (
        "given",
        frozenset({1}),
        (700, 0),
    )


async def test_points_of_another_program_are_awarded_under_the_redemption(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    at = Counter(pool, [AS_POINTS])
    bought = await at.redeem("1", quantity=2)
    await at.deliveries.after_payment([bought._replace(stage="taken")])  # a process died behind it
    with pytest.raises(RedemptionState, match="its points are on their way"):
        await at.desk.bring_back(bought)
    assert await send_awards(pool) == [(f"redemption:{bought.redemption_id}", "OVO", 400)]
    assert {name: each.available for name, each in (await at.standings("bob")).items()} == {"GRP": 200, "OVO": 400}
    assert await reward_books(pool) == (1, 0, [])
    dying = Counter(pool, [AS_POINTS], moves=DiesAfterwards(PostgresMoves(pool, at.clock)))
    with pytest.raises(Dies):
        await dying.desk.bring_back(bought)
    assert await at.redeemer.finish_stale(AT_ONCE) == 1
    assert {name: each.available for name, each in (await at.standings("bob")).items()} == {"GRP": 1200, "OVO": 0}
    assert await reward_books(pool) == (1, 0, [])


class DiesAfterwards:
    """`MovesPort` that dies after its first movements."""

    def __init__(self, moves: PostgresMoves) -> None:
        self._moves = moves

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        await self._moves.move(movements)
        raise Dies
