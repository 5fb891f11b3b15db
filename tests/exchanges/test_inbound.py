"""What comes in, on a real ledger: reserved, committed, awarded once; or refused for ever."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

import pytest

from abacus.core.errors import Absent
from abacus.engage.asking.types import Standing
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.inbound import Against, Refusal, Taker
from abacus.exchanges.decide.programme import Caps, Direction, Programme
from abacus.exchanges.inbound_desk import InboundDesk, Reservation
from abacus.exchanges.inbound_rows import InboundRows
from abacus.exchanges.inbound_statements import InboundStatements
from abacus.exchanges.incoming import Incoming
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.award_envelope import decode_envelope
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from tests.support.exchange_house import ExchangeHouse
from tests.support.exchanged import skymiles
from tests.support.exchanges import programme
from tests.support.memory_queue import MemoryQueue
from tests.support.rewards import CARDS, give_points

AIR = "skylines"


class Counter:
    """Where a partner asks; bob's account there is 4711, and eve's link is still cooling off."""

    def __init__(self, house: ExchangeHouse) -> None:
        self.house = house
        self.queue = MemoryQueue("award")
        rows = InboundRows(house.pool, house.version_of, house.clock)
        self.desk = InboundDesk(house.pool, house.clock, rows, self, house.programmes)
        book = CardBook(list(CARDS.values()))
        self.incoming = Incoming(rows, self.queue, self._posted, house.version_of, lambda: book, clock=house.clock)
        house.incoming = self.incoming

    async def taker_of(self, programme: str, account: str) -> Taker | Against | None:
        if account == "4712":
            return Against(Refusal.NOT_ELIGIBLE, "the link is too new")
        return Taker(UUID(int=2), "bob") if account == "4711" else None

    async def facts_of(self, partner: str, account: str, theirs: int) -> str:
        return f"{partner} {account} {theirs}"

    async def _posted(self, keys: Collection[str]) -> Collection[str]:
        return (await LedgerReader(self.house.pool).claims_of(keys)).keys()

    async def post(self) -> int:
        """What the awarder does; how many awards there were."""
        awards = [
            award
            for each in [each.body for each in await self.queue.receive()]
            for award in decode_envelope(each).awards
        ]
        await PostgresLedger(self.house.pool, self.house.clock).post(awards)
        return len(awards)


async def counter(pool: Pool, **of: object) -> Counter:
    await give_points(pool, ["bob"], 100)
    return Counter(ExchangeHouse(pool, skymiles(**of)))


async def test_miles_become_points_once(pool: Pool) -> None:
    at = await counter(pool)
    reserved = await at.desk.reserve(AIR, "T-1", "4711", 1000)
    assert (reserved.state, reserved.points, reserved.member_id) == (State.RESERVED, 1500, "bob")
    assert await at.desk.reserve(AIR, "T-1", "4711", 1000) == reserved
    with pytest.raises(Reservation):
        await at.desk.reserve(AIR, "T-1", "4711", 1100)
    for _ in range(2):
        committed = await at.desk.commit(AIR, "T-1")
        assert committed is not None
        assert committed.state is State.COMMITTED
    assert (await at.desk.cancel(AIR, "T-1")).state is State.COMMITTED
    await at.house.later()
    await at.house.later(timedelta(hours=1))
    assert (await at.post(), await at.house.points()) == (2, (1600, 0))
    await at.house.later(timedelta(hours=1))
    done = await at.desk.one(AIR, "T-1")
    assert done is not None
    assert (done.state, await at.house.trail(done)) == (State.AWARDED, ["reserved", "committed", "awarded"])
    assert [kind for kind, _ in await at.house.money()] == ["awarded"]
    explained = await pool.fetchval("select explanation::text from transfer where kind = 'exchange_in'")
    assert '"theirs": 1000' in explained or '"theirs":1000' in explained


async def test_an_id_is_enough_where_it_is_not_known_what_was_asked_for(pool: Pool) -> None:
    at = await counter(pool)
    reserved = await at.desk.reserve(AIR, "T-1", "4711", 1000)
    await pool.execute("update exchange set fingerprint = ''")
    assert await at.desk.reserve(AIR, "T-1", "4711", 1000) == reserved._replace(fingerprint="")


async def test_a_partner_compares_what_was_awarded_on_a_day(pool: Pool) -> None:
    at = await counter(pool)
    for id_, points in (("T-1", 1000), ("T-2", 1100), ("T-3", 1200)):
        await at.desk.reserve(AIR, id_, "4711", points)
    await at.desk.cancel(AIR, "T-3")
    for each in ("T-1", "T-2"):
        await at.desk.commit(AIR, each)
    await at.house.later()
    await at.post()
    await at.house.later(timedelta(hours=1))

    async def last_of(name: str) -> Programme | None:
        return at.house.programme if name == at.house.programme.name else None

    statements, day = InboundStatements(pool, at.house.clock, last_of), at.house.clock.now().date()
    said = await statements.of(AIR, "skymiles", day)
    assert sorted(each.id for each in said.lines) == ["T-1", "T-2"]
    assert (said.points, said.credit, said.complete) == (2100, 3150, False)
    assert not (await statements.of(AIR, "skymiles", day - timedelta(days=1))).lines
    at.house.clock.set(at.house.clock.now() + timedelta(days=2))
    assert (await statements.of(AIR, "skymiles", day)).complete
    for partner, name in (("other", "skymiles"), (AIR, "other")):
        with pytest.raises(Absent):
            await statements.of(partner, name, day)


@pytest.mark.parametrize(
    ("account", "theirs", "reason"),
    [
        ("4713", 1000, Refusal.ACCOUNT_UNKNOWN),
        ("4712", 1000, Refusal.NOT_ELIGIBLE),
        ("4711", 1001, Refusal.AMOUNT_NOT_ALLOWED),
        ("4711", 2000, Refusal.CAP_REACHED),
    ],
)
async def test_a_refusal_is_for_ever(pool: Pool, account: str, theirs: int, reason: Refusal) -> None:
    at = await counter(pool, caps={Direction.IN: Caps(member_day=2000)})
    for _ in range(2):
        refused = await at.desk.reserve(AIR, "T-1", account, theirs)
        assert (refused.state, refused.reason) == (State.DROPPED, reason)
    committed = await at.desk.commit(AIR, "T-1")
    assert committed is not None
    assert committed.state is State.DROPPED
    await at.house.later()
    assert len(at.queue) == 0


async def test_nothing_comes_in_for_a_member_whom_the_programme_is_not_for(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1000)
    regulars = programme(when={"operator": "eq", "lhs": "segment.regulars", "rhs": True})
    house, open_to_all = ExchangeHouse(pool, regulars), ExchangeHouse(pool)
    bob, kim = await house.standings("bob"), dict[str, Standing]()
    assert "for nobody now" in str(await house.desk.misfit("skymiles", "bob", bob))
    assert "has no points" in str(await house.desk.misfit("skymiles", "kim", kim))
    assert await open_to_all.desk.misfit("skymiles", "bob", bob) is None
    assert await open_to_all.desk.misfit("skymiles", "kim", kim) is None, "its first points may come this way"


async def test_what_is_cancelled_or_left_counts_no_more(pool: Pool) -> None:
    """And an id that was never heard of is refused once it was cancelled."""
    at = await counter(pool, caps={Direction.IN: Caps(day=1500)})
    await at.desk.reserve(AIR, "T-1", "4711", 1000)
    assert (await at.desk.reserve(AIR, "T-2", "4711", 1000)).reason == Refusal.CAP_REACHED
    assert (await at.desk.cancel(AIR, "T-1")).state is State.DROPPED
    assert (await at.desk.reserve(AIR, "T-3", "4711", 1000)).state is State.RESERVED
    await at.house.later(timedelta(hours=25))
    left = await at.desk.commit(AIR, "T-3")
    assert left is not None
    assert (left.state, left.reason) == (State.DROPPED, "left")
    assert await at.desk.commit(AIR, "T-4") is None
    assert (await at.desk.cancel(AIR, "T-4")).state is State.DROPPED
    assert (await at.desk.reserve(AIR, "T-4", "4711", 1000)).state is State.DROPPED
