"""A slice that is held up, or whose server is silent, holds up what needs it and nothing else."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta

import pytest

from abacus.core.errors import Unavailable
from abacus.intake.awarding.awarder import Awarder
from abacus.ledger.store.holds import HoldKeeper
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.slices import SliceRounds
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.ledger.types.port import Claim, SliceAway, Status
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.slices import Slice, side_by_side, split
from abacus.platform.sqs.packer import pack
from abacus.platform.sqs.port import Received
from abacus.programs.tiers.store import MembershipStore
from tests.ledger.moves import hold
from tests.ledger.slices.eight import CLOCK, FIRST, MEMBERS, SECOND, gift
from tests.support.awards import NOW, award
from tests.support.dispersed import Dispersed, dispersed
from tests.support.door import door
from tests.support.fixed_clock import FixedClock
from tests.support.house import until
from tests.support.proxy import Proxy
from tests.support.services import Services

NOTICED_WITHIN_S = 12.0  # on a machine that is busy


@pytest.fixture
async def spread(services: Services) -> AsyncIterator[Dispersed]:
    async with dispersed(services, servers=2) as opened:
        yield opened


@pytest.fixture
async def silent(spread: Dispersed) -> Proxy:
    """The server of the slices with even numbers; the first member's is among them, and the second's is not."""
    return next(proxy for proxy, numbers in spread.servers.items() if 0 in numbers)


@pytest.fixture
async def opened(spread: Dispersed) -> AsyncIterator[Pool]:
    pool = await open_pool(spread.database_url, size=4, keeps_nothing=True)
    yield pool
    pool.terminate()


class Rounds:
    """Rounds of work, of which that in the first slice lasts until it is let go."""

    def __init__(self, pool: Pool) -> None:
        self.let_go = asyncio.Event()
        self.done: list[tuple[int, list[str]]] = []
        self._rounds = SliceRounds[Award, str](
            pool, lambda award: [award.key], self._work, lambda award: f"{award.key} waits", patience_s=0.3
        )

    async def do(self, *awards: Award) -> list[str]:
        return await self._rounds.do(awards)

    async def _work(self, slice_: Slice, awards: Sequence[Award], _: Mapping[str, Claim]) -> list[str]:
        self.done.append((slice_.number, [award.key for award in awards]))
        if slice_.number == 0:
            await self.let_go.wait()
        return [f"{award.key} is done" for award in awards]


async def test_what_a_slice_does_not_do_in_time_waits_and_the_others_part_is_done(pool: Pool) -> None:
    rounds = Rounds(pool)
    assert await rounds.do(gift(FIRST, "k1"), gift(SECOND, "k2")) == ["k1 waits", "k2 is done"]
    began = time.monotonic()
    for number in range(9):
        assert await rounds.do(gift(FIRST, f"a{number}"), gift(SECOND, f"b{number}")) == [
            f"a{number} waits",
            f"b{number} is done",
        ]
    assert time.monotonic() - began < 9 * 0.3, "while its round lasts nobody waits for it again"
    with pytest.raises(SliceAway):
        await rounds.do(gift(FIRST, "k3"))
    assert [keys for number, keys in rounds.done if number == 0] == [["k1"]], "and nothing is in line"
    rounds.let_go.set()
    await until(lambda: _goes(rounds))


async def test_who_is_faster_is_not_waited_with_for_long(pool: Pool) -> None:
    async def after(slice_: Slice, _: Sequence[str]) -> str:
        if slice_.number == 2:  # this is no measure for the others
            raise Unavailable("database", "the server is away")
        await asyncio.sleep(30 if slice_.number == 0 else 0.2)
        return "done"

    found = await split(pool, MEMBERS, after, member_of=str, patience_s=0.2, reads=True)
    assert (found.done, found.waiting) == (["done"] * 6, [MEMBERS[0], MEMBERS[2]])
    assert str(found.errors[0]) == "database unavailable: slice 0 takes longer than others"
    assert found.in_reach() == found.done
    with pytest.raises(Unavailable):
        found.whole()


async def test_slices_that_are_slow_keep_no_hands_from_others() -> None:
    async def late() -> None:
        await asyncio.sleep(30)

    async def at_once() -> str:
        return "done"

    done = await side_by_side({0: late, 1: late, 2: at_once, 3: at_once}, patience_s=0.2, at_once=2)
    assert [isinstance(each, Unavailable) for each in done.values()] == [True, True, False, False]


async def test_what_fails_while_all_servers_are_there_is_the_callers(pool: Pool) -> None:
    async def failing(_: Slice, __: Sequence[str]) -> None:
        raise Unavailable("database", "it is full")

    async def of_another(_: Slice, __: Sequence[str]) -> None:
        raise Unavailable("tiers", "others were faster")

    async def failing_in_one(slice_: Slice, _: Sequence[str]) -> None:
        if slice_.number == 0:
            raise Unavailable("database", "a deadlock")

    for work in (failing, of_another, failing_in_one):
        with pytest.raises(Unavailable):
            await split(pool, MEMBERS, work, member_of=str)


@pytest.mark.long
async def test_awards_for_a_server_that_is_silent_come_again_and_others_are_posted(opened: Pool, silent: Proxy) -> None:
    ledger, sent = PostgresLedger(opened, CLOCK), list[str]()

    async def later(bodies: Sequence[str]) -> None:
        sent.extend(bodies)

    parts = (door(CLOCK), ledger, PostgresMoves(opened, CLOCK), QuarantineStore(opened, CLOCK))
    awarder = Awarder(*parts, later=later)
    assert {each.status for each in await ledger.post([gift(each, f"first of {each}") for each in MEMBERS])} == {
        Status.POSTED
    }
    silent.silence()
    began = time.monotonic()
    outcomes = await ledger.post([gift(each, f"second of {each}") for each in MEMBERS])
    assert time.monotonic() - began < NOTICED_WITHIN_S
    assert [each.status for each in outcomes] == [Status.WAITS, Status.POSTED] * 4
    for_the_silent = [_message(FIRST, "third")]
    with pytest.raises(SliceAway):
        await ledger.post([gift(FIRST, "third")])
    assert await awarder.handle(for_the_silent) == for_the_silent, "no hand is held for it, whatever else comes"
    assert sent == [for_the_silent[0].body]
    silent.speak()
    await until(lambda: _is_back(ledger), within_s=20)
    again = await ledger.post([gift(each, f"second of {each}") for each in MEMBERS])
    assert {each.status for each in again} <= {Status.POSTED, Status.DUPLICATE}
    assert await opened.fetchval("select count(*) from transfer where key like 'second of %'") == len(MEMBERS)


@pytest.mark.long
async def test_lookups_and_holds_of_other_servers_go_on(opened: Pool, silent: Proxy) -> None:
    clock = FixedClock(NOW)
    ledger, moves = PostgresLedger(opened, clock), PostgresMoves(opened, clock)
    await ledger.post([gift(each, f"first of {each}") for each in MEMBERS])
    await moves.move([hold(5, f"hold of {each}", each) for each in MEMBERS])
    clock.set(NOW + timedelta(days=2))
    silent.silence()
    began = time.monotonic()
    tiers = MembershipStore(opened, clock)
    await tiers.tiers_in_reach([(each, "GRP") for each in MEMBERS])
    assert await HoldKeeper(opened, moves, clock).release_overdue() == len(MEMBERS) / 2
    assert time.monotonic() - began < NOTICED_WITHIN_S


def _message(member: str, key: str) -> Received:
    awarded = award(key=f"txn:rides:{key}", member_id=member)
    return Received("1", "", next(pack("awards", [encode_award(awarded)])), 1)


async def _goes(rounds: Rounds) -> bool:
    try:
        return await rounds.do(gift(FIRST, "k4")) == ["k4 is done"]
    except SliceAway:
        return False


async def _is_back(ledger: PostgresLedger) -> bool:
    try:
        await ledger.post([gift(FIRST, "again")])
    except Unavailable:
        return False
    return True
