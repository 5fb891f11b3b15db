"""What is posted is what was approved, also when the process dies between the approval and the posting."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Final

import asyncpg
import pytest

from abacus.ledger.store.large_moves import LargeMoves, document_of, read_adjustment, read_reversal
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.limits import Alone, Sums
from abacus.ledger.types.movement import Moved, Movement, SecondPersonNeeded
from abacus.people.decide.agreement import canonical, digest_of
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, CannotDecide, CannotExecute, Status
from abacus.platform.postgres import Pool
from tests.ledger.moves import adjust, earn, refund, reverse
from tests.people.approving import BEN
from tests.support.fixed_clock import FixedClock

NOW: Final = datetime(2026, 11, 22, tzinfo=UTC)
LARGE: Final = adjust(5000)


class Mortal:
    """Posts, and dies before or after it where it is told to."""

    def __init__(self, pool: Pool) -> None:
        self._moves = PostgresMoves(pool, FixedClock(NOW))
        self.dies: str | None = None

    async def move(self, movement: Movement) -> Moved:
        if self.dies == "before":
            raise asyncio.CancelledError
        (moved,) = await self._moves.move([movement])
        if self.dies == "after":
            raise asyncio.CancelledError
        return moved


def large(pool: Pool, mortal: Mortal) -> LargeMoves:
    return LargeMoves(Approvals(pool, FixedClock(NOW)), mortal.move, Alone(100, 100))


async def pending(moves: LargeMoves) -> Approval:
    request = await moves.do(LARGE)
    assert isinstance(request, Approval)
    return request


async def test_all_that_is_left_is_asked_for_again_while_it_waits(pool: Pool) -> None:
    """And a share of an amount is no number of points that two could agree on."""
    moves = large(pool, Mortal(pool))
    await PostgresLedger(pool, FixedClock(NOW)).post([earn(5000)])
    request = await moves.do(reverse())
    again = await moves.do(reverse())
    assert isinstance(request, Approval)
    assert again == request
    refused = await moves.do(refund("4000.00", "s"))
    assert isinstance(refused, Moved)
    assert isinstance(refused.fault, SecondPersonNeeded)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_death_at_the_posting_loses_and_doubles_nothing(pool: Pool, when: str) -> None:
    mortal = Mortal(pool)
    request = await pending(large(pool, mortal))
    mortal.dies = when
    with pytest.raises(asyncio.CancelledError):
        await large(pool, mortal).approvals.approve(request.approval_id, BEN, request.digest)
    mortal.dies = None
    after = large(pool, mortal)
    cut_off = await after.approvals.find(request.approval_id)
    assert cut_off is not None
    assert cut_off.status == Status.APPROVED
    done = await after.approvals.approve(request.approval_id, BEN, request.digest)
    assert done.status == Status.DONE
    rows = await pool.fetch("select points, actor, source, explanation from transfer")
    assert [(row["points"], row["actor"], row["source"]) for row in rows] == [(5000, "ann", "person:ann")]
    assert b'"approved_by":"ben"' in rows[0]["explanation"]


async def test_a_small_one_is_posted_and_leaves_no_approval(pool: Pool) -> None:
    moves = large(pool, Mortal(pool))
    assert isinstance(await moves.do(adjust(100)), Moved)
    assert await moves.approvals.all() == []


async def test_many_small_ones_wait_for_a_second_person_together(pool: Pool) -> None:
    """What waits stays as it is, also when its day is over and it would be small enough again."""
    clock = FixedClock(NOW)
    posting, limits = PostgresMoves(pool, clock), Alone(100, 100, Sums(actor_day=150))

    async def move(movement: Movement) -> Moved:
        (moved,) = await posting.move([movement])
        return moved

    moves = LargeMoves(Approvals(pool, clock), move, limits)
    assert isinstance(await moves.do(adjust(100, "adjust:1")), Moved)
    request = await moves.do(adjust(100, "adjust:2"))
    assert isinstance(request, Approval)
    assert request.summary == (
        "adjust +100 GRP of bob in SG: a mistake"
        " (100 points; ann moved 100 alone today, and more than 150 take a second person)"
    )
    clock.set(NOW + timedelta(days=1))
    assert await moves.do(adjust(100, "adjust:2")) == request
    assert (await moves.approvals.approve(request.approval_id, BEN, request.digest)).status == Status.DONE
    assert await pool.fetchval("select sum(points) from transfer") == 200
    assert isinstance(await moves.do(adjust(100, "adjust:2")), Moved)


async def test_a_login_is_told_why_it_needs_a_person(pool: Pool) -> None:
    moves = LargeMoves(Approvals(pool, FixedClock(NOW)), Mortal(pool).move, Alone(100, 100, Sums(actor_day=150)))
    first, second = (
        adjust(100, f"adjust:{name}", actor=name, source=f"login:{name}") for name in ("root@here", "eve@there")
    )
    assert isinstance(await moves.do(first), Moved)
    with pytest.raises(
        CannotDecide, match="logins moved 100 alone today, and more than 150 take a second person; login:eve"
    ):
        await moves.do(second)


async def test_the_key_binds_the_facts(pool: Pool) -> None:
    moves = large(pool, Mortal(pool))
    request = await pending(moves)
    later = LARGE._replace(expires_on=LARGE.expires_on.replace(year=2030))  # as the same order gives tomorrow
    assert await moves.do(later) == request
    with pytest.raises(CannotDecide, match="points was 5000, now it is 6000"):
        await moves.do(adjust(6000, fingerprint="f" * 16))
    with pytest.raises(CannotDecide, match="reason was 'a mistake', now it is 'a gift'"):
        await moves.do(LARGE._replace(reason="a gift", fingerprint="f" * 16))
    with pytest.raises(CannotDecide, match="only a digest is kept"):
        await moves.do(LARGE._replace(fingerprint="f" * 16))


@pytest.mark.parametrize("field", [{"points": 9_000_000}, {"member_id": "eve"}, {"source": "person:eve"}])
async def test_another_movement_in_its_place_is_void(pool: Pool, database_url: str, field: dict[str, object]) -> None:
    """Somebody with every right in the database changes the document, and makes the digest fit."""
    moves = large(pool, Mortal(pool))
    request = await pending(moves)
    document = canonical({**_fields(request), **field})
    owner = await asyncpg.connect(database_url)
    try:
        await owner.execute("alter table approval disable trigger all")
        await owner.execute("update approval set document = $1", document)
        with pytest.raises(CannotExecute):
            await moves.approvals.approve(request.approval_id, BEN, request.digest)
        forged = digest_of(request.kind, request.subject, request.country, document)
        await owner.execute("update approval set digest = $1, status = 'pending', decided_by = null", forged)
    finally:
        await owner.close()
    with pytest.raises(CannotDecide, match="look at it again"):  # for the approver saw another digest
        await moves.approvals.approve(request.approval_id, BEN, request.digest)
    assert await pool.fetchval("select count(*) from transfer") == 0


@pytest.mark.parametrize("document", ["[]", "{}", '{"key":"k"}', "null", "no JSON"])
def test_a_document_that_cannot_be_read_is_not_executed(document: str) -> None:
    with pytest.raises(CannotExecute, match="the document cannot be read"):
        read_adjustment(document)


def test_a_document_is_read_as_it_was_written() -> None:
    assert read_adjustment(document_of(LARGE)) == LARGE
    back = reverse(part=7, reason="é", actor="ann")
    assert read_reversal(document_of(back)) == back
    assert document_of(read_reversal(document_of(back))) == document_of(back)
    assert document_of(LARGE._replace(approved_by="ben")) == document_of(LARGE)


def _fields(approval: Approval) -> dict[str, object]:
    fields: dict[str, object] = json.loads(approval.document)
    return fields
