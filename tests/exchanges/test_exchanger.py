"""Exchanges on a real ledger: each point is in one place, whatever a partner says and wherever a process dies."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal

import pytest

from abacus.approving.exchanges import reviewing
from abacus.core.errors import Absent, Refused
from abacus.exchanges.converter import KeyReused, PointsShort, QuoteStale
from abacus.exchanges.decide.caps import Cap, CapReached
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.heard import Credited, Heard, OtherFacts, Pending
from abacus.exchanges.decide.programme import Caps, Direction
from abacus.exchanges.decide.turn import Reason, Verdict, WrongState
from abacus.exchanges.decide.words import in_words
from abacus.exchanges.exchanger import LEASE
from abacus.exchanges.reviews import ApprovedReviews
from abacus.exchanges.settler import Beside, MovesBeside
from abacus.exchanges.types import Transfer
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.movement import Moved, Movement
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import ApprovalKind
from abacus.platform.postgres import Pool
from tests.support.agreed import eve
from tests.support.exchange_house import PREFUND, SHOP, ExchangeHouse
from tests.support.exchanged import NOW, skymiles
from tests.support.memory_partner import MemoryPartner, refuses, says
from tests.support.rewards import give_points

DAY = timedelta(days=1)


async def a_house(
    pool: Pool, partner: MemoryPartner | None = None, points: int = 10_000, **of: object
) -> ExchangeHouse:
    await give_points(pool, ["bob"], points)
    house = ExchangeHouse(pool, skymiles(**of), partner=partner)
    await house.prefund()
    return house


async def test_points_become_miles(pool: Pool) -> None:
    partner = MemoryPartner()
    house = await a_house(pool, partner)
    held = await house.exchange()
    assert (held.state, await house.points()) == (State.HELD, (10_000, 2500))
    await house.later()
    done = await house.now(held)
    assert (done.state, done.reference, done.ended_at) == (State.CAPTURED, "ref", house.clock.now())
    assert (await house.points(), partner.credited) == ((7500, 0), 1000)
    assert await house.trail(done) == ["held", "sent", "credited", "captured"]
    money = PREFUND - Decimal("0.01") * 1000
    assert await house.money() == [("payment", PREFUND), ("held", money), ("captured", money)]
    assert await house.convert(held.exchange_id) == done
    assert await pool.fetchval("select count(*) from exchange where due_at is not null") == 0


async def test_a_key_is_that_of_one_quote(pool: Pool) -> None:
    house = await a_house(pool)
    first, second = await house.quote(), await house.quote(5000)
    await house.convert(first)
    with pytest.raises(KeyReused, match=f"exchange {first}, not of {second}"):
        await house.convert(second)
    with pytest.raises(QuoteStale, match="another key"):
        await house.convert(first, "2")
    with pytest.raises(Absent, match="none of eve"):
        await house.convert(second, "3", member_id="eve")
    assert await house.points() == (10_000, 2500)


@pytest.mark.parametrize(
    ("caps", "cap"),
    [
        (Caps(member_day=4000), Cap.MEMBER_DAY),
        (Caps(member_month=4000), Cap.MEMBER_MONTH),
        (Caps(day=4000), Cap.DAY),
        (Caps(ever=4000), Cap.EVER),
        (None, Cap.MONEY),
    ],
)
async def test_what_passes_a_limit_holds_nothing(pool: Pool, caps: Caps | None, cap: Cap) -> None:
    """And counts again once the points were let go."""
    partner = MemoryPartner()
    partner.decides = refuses("account-closed")
    house = await a_house(pool, partner, caps={} if caps is None else {Direction.OUT: caps})
    if caps is None:
        await house.prefund(Decimal(15) - PREFUND)
    quote_id = await house.quote()
    first = await house.exchange(key="2")
    with pytest.raises(CapReached) as refused:
        await house.convert(quote_id)
    assert (refused.value.cap, await house.points()) == (cap, (10_000, 2500))
    await house.later()
    assert (await house.now(first)).state is State.RELEASED
    assert (await house.convert(quote_id)).state is State.HELD


async def test_what_cannot_be_held_leaves_the_key_free(pool: Pool) -> None:
    house = await a_house(pool, points=2000)
    quote_id = await house.quote()
    with pytest.raises(PointsShort, match="2500"):
        await house.convert(quote_id)
    house.clock.set(NOW + timedelta(minutes=30))
    with pytest.raises(QuoteStale, match="good until"):
        await house.convert(quote_id)
    assert (await house.exchange(1000)).state is State.HELD
    assert [kind for kind, _ in await house.money()] == ["payment", "held"]


async def test_silence_releases_nothing(pool: Pool) -> None:
    """The first message was lost on its way there, later ones on their way back."""
    partner = MemoryPartner()
    house = await a_house(pool, partner)
    partner.loses = lambda _: True
    held = await house.exchange()
    for _ in range(5):
        await house.later(timedelta(minutes=1))
        assert ((await house.now(held)).state, (await house.points())[1]) == (State.UNKNOWN, 2500)
    partner.books.clear()
    partner.loses = lambda _: False
    await house.later(timedelta(hours=1))
    assert ((await house.now(held)).reason, await house.points()) == (Reason.NOT_KNOWN, (10_000, 2500))
    await house.later(timedelta(hours=2))
    assert ((await house.now(held)).state, await house.points(), partner.credited) == (State.CAPTURED, (7500, 0), 1000)
    assert partner.asked[0] == partner.asked[-1] == "put"


async def test_what_is_late_for_good_is_cancelled(pool: Pool) -> None:
    """The partner's tombstone lets the points go, and not the time."""
    partner = MemoryPartner()
    house = await a_house(pool, partner)
    partner.decides = lambda _: Pending()
    held = await house.exchange()
    await house.later()
    partner.loses = lambda method: method == "cancel"
    await house.later(4 * DAY)
    assert ((await house.now(held)).state, await house.points()) == (State.CANCELLING, (10_000, 2500))
    partner.loses = lambda _: False
    await house.later(DAY)
    assert ((await house.now(held)).state, await house.points()) == (State.RELEASED, (10_000, 0))
    await house.hearing.heard("skymiles", held.exchange_id, Credited(1000))
    told = await house.now(held)
    assert (told.state, told.reason) == (State.RELEASED, Reason.CREDITED_AFTER_CANCEL)
    assert await house.points() == (10_000, 0)


async def test_a_refusal_is_told_in_words(pool: Pool) -> None:
    partner = MemoryPartner()
    partner.decides = refuses("account-closed")
    house = await a_house(pool, partner)
    held = await house.exchange()
    await house.later()
    done = await house.now(held)
    assert (done.state, done.reason, done.detail) == (State.RELEASED, "account-closed", "the account is closed")
    assert await house.points() == (10_000, 0)
    assert (await house.money())[-1] == ("released", PREFUND)


@pytest.mark.parametrize(("said", "reason"), [(Credited(900), "other-amount"), (OtherFacts("900"), "other-facts")])
async def test_what_does_not_tie_is_set_aside(pool: Pool, said: Credited | OtherFacts, reason: str) -> None:
    partner = MemoryPartner()
    partner.decides = says([said])
    house = await a_house(pool, partner)
    held = await house.exchange()
    await house.later()
    aside = await house.now(held)
    assert (aside.state, aside.reason, await house.points()) == (State.ASIDE, reason, (10_000, 2500))
    done = await house.desk.settle(aside, Verdict.CREDITED, "they have shown it", SHOP)
    assert (done.state, await house.points()) == (State.CAPTURED, (7500, 0))


async def test_what_was_not_sent_is_called_off(pool: Pool) -> None:
    house = await a_house(pool)
    held = await house.exchange()
    gone = await house.desk.cancel(held, SHOP)
    assert (gone.state, await house.points()) == (State.RELEASED, (10_000, 0))
    assert await house.desk.cancel(gone, SHOP) == gone
    second = await house.exchange(key="2")
    await house.later()
    with pytest.raises(WrongState, match="captured"):
        await house.desk.cancel(await house.now(second), SHOP)


async def test_the_partner_debits_before_points_come_back(pool: Pool) -> None:
    partner = MemoryPartner()
    house = await a_house(pool, partner)
    held = await house.exchange()
    await house.later()
    partner.loses = lambda method: method == "reverse"
    await house.desk.reverse(await house.now(held), SHOP)
    await house.later()
    assert ((await house.now(held)).state, await house.points()) == (State.REVERSING, (7500, 0))
    partner.loses = lambda _: False
    await house.later(DAY)
    assert ((await house.now(held)).state, await house.points(), partner.credited) == (
        State.REVERSED,
        (10_000, 0),
        0,
    )
    assert (await house.money())[-1] == ("reversed", PREFUND)
    kept = await house.exchange(key="2")
    await house.later()
    partner.takes_back = False
    await house.desk.reverse(await house.now(kept), SHOP)
    await house.later()
    assert ((await house.now(kept)).state, (await house.now(kept)).reason) == (State.CAPTURED, Reason.NOT_TAKEN_BACK)
    house.clock.set(NOW + 33 * DAY)
    late = await house.now(kept)
    with pytest.raises(Refused, match="took it back until"):
        await house.desk.reverse(late, SHOP)


class _OvertakenMoves:
    """Those of a process that is overtaken by another one just before."""

    def __init__(self, moves: MovesBeside, first: Callable[[], Awaitable[object]]) -> None:
        self._moves = moves
        self._first = first

    async def move_beside(self, movements: Sequence[Movement], beside: Beside) -> list[Moved]:
        await self._first()
        return await self._moves.move_beside(movements, beside)


async def test_who_asks_again_elsewhere_is_told_of_the_exchange(pool: Pool) -> None:
    """A caller that got no answer asks another process under its key, while the first is still at work."""
    other = await a_house(pool)
    quote_id = await other.quote()
    house = ExchangeHouse(
        pool, moves=lambda clock: _OvertakenMoves(PostgresMoves(pool, clock), lambda: other.convert(quote_id))
    )
    assert await house.convert(quote_id) == await other.convert(quote_id)
    taken = await other.quote()
    late = ExchangeHouse(
        pool, moves=lambda clock: _OvertakenMoves(PostgresMoves(pool, clock), lambda: other.convert(taken, "2"))
    )
    with pytest.raises(QuoteStale, match="at the same moment"):
        await late.convert(taken, "3")
    assert await house.points() == (10_000, 5000)


@pytest.mark.parametrize("room", [0, 250])
async def test_what_was_not_sent_before_its_programme_was_over_is_given_back(pool: Pool, room: int) -> None:
    """What is paused waits. No partner is needed; but a house that was restored may have sent it before."""
    partner = MemoryPartner()
    house = await a_house(pool, partner)
    held = await house.exchange()
    house.is_paused = True
    await house.later(timedelta(minutes=1))
    assert ((await house.now(held)).state, await house.points()) == (State.HELD, (10_000, 2500))
    house.is_restored = True
    await house.later(31 * DAY)
    assert ((await house.now(held)).state, await house.points()) == (State.HELD, (10_000, 2500))
    house.is_restored, house.room = False, room
    await house.later()
    off = await house.now(held)
    assert (off.state, off.reason, await house.points()) == (State.RELEASED, Reason.PROGRAMME_OVER, (10_000, 0))
    assert (await house.trail(off), partner.asked) == (["held", "cancelled", "released"], [])
    assert in_words(off) == "the points are free again: the programme is over"
    assert (await house.money())[-1] == ("released", PREFUND)


class Dying:
    """A process that dies at a step of its work."""

    def __init__(self, step: int) -> None:
        self._left = step

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            raise Died


class Died(Exception):
    """The process is gone."""


class _DyingMoves:
    def __init__(self, moves: MovesBeside, dying: Dying) -> None:
        self._moves = moves
        self._dying = dying

    async def move_beside(self, movements: Sequence[Movement], beside: Beside) -> list[Moved]:
        self._dying.step()
        moved = await self._moves.move_beside(movements, beside)
        self._dying.step()
        return moved


class _DyingPartner(MemoryPartner):
    def __init__(self, dying: Dying) -> None:
        super().__init__()
        self._dying = dying

    async def put(self, transfer: Transfer) -> Heard:
        self._dying.step()
        heard = await super().put(transfer)
        self._dying.step()
        return heard


@pytest.mark.parametrize("step", range(1, 7))
async def test_whoever_comes_next_goes_on_under_the_same_id(pool: Pool, step: int) -> None:
    """The process dies before or after the hold, the message, or the capture; another goes on when its lease ends."""
    await give_points(pool, ["bob"], 10_000)
    dying = Dying(step)
    partner = _DyingPartner(dying)
    house = ExchangeHouse(pool, partner=partner, moves=lambda clock: _DyingMoves(PostgresMoves(pool, clock), dying))
    await house.prefund()
    quote_id = await house.quote()
    for _ in range(2):
        with suppress(Died):
            await house.convert(quote_id)
        with suppress(Died):
            await house.later(LEASE)
    held = await house.convert(quote_id)
    await house.later(LEASE)
    assert (await house.now(held)).state is State.CAPTURED
    assert (await house.points(), partner.credited) == ((7500, 0), 1000)
    assert [kind for kind, _ in await house.money()] == ["payment", "held", "captured"]


async def test_a_silent_partner_is_left_alone_and_the_rest_goes_on(pool: Pool) -> None:
    partner = MemoryPartner()
    house = await a_house(pool, partner)
    waiting, going = await house.exchange(key="1"), await house.exchange(key="2")
    house.room = 0
    await house.desk.cancel(going, SHOP)
    await house.later()
    assert ((await house.now(waiting)).state, partner.asked) == (State.HELD, [])
    house.room, house.is_restored = 250, True
    await house.later()
    assert partner.asked == []
    house.is_restored = False
    await house.later()
    assert ((await house.now(waiting)).state, await house.points()) == (State.CAPTURED, (7500, 0))


@pytest.mark.parametrize("agrees", [True, False])
async def test_a_large_one_waits_for_a_second_person(pool: Pool, *, agrees: bool) -> None:
    house = await a_house(pool, review_above=2000)
    approvals = Approvals(pool, house.clock, {ApprovalKind.EXCHANGE: reviewing(pool, house.clock)})
    house.reviews = ApprovedReviews(approvals)
    held = await house.exchange()
    await house.later()
    assert ((await house.now(held)).state, await house.points()) == (State.REVIEW, (10_000, 2500))
    (waiting,) = await approvals.some([held.exchange_id])
    if agrees:
        await approvals.approve(waiting.approval_id, await eve(pool), waiting.digest)
    else:
        await approvals.reject(waiting.approval_id, await eve(pool), "not again")
    await house.later(timedelta(minutes=2))
    done = await house.now(held)
    assert (done.state, await house.points()) == (
        (State.CAPTURED, (7500, 0)) if agrees else (State.RELEASED, (10_000, 0))
    )
