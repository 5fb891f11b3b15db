"""The same herd the classic way: each member waits in a row of its own, which becomes a row for each branch. A row is
kept until it is looked at; of eleven rows one does something. Rows are taken in batches, in a transaction each, or one
by one, as queues of jobs do.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from abacus.engage.actions.action_store import plan_once
from abacus.engage.actions.types import PlannedAction
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.deed_rows import DeedRow
from abacus.engage.journeys.seat_rows import lock_seats
from abacus.platform.postgres import Connection, Pool
from abacus.signals.segments.types import Members
from benchmarks.journey_herd import BRANCHES, PAST, Running

_TABLE: Final = """
drop table if exists classic_step;
create table classic_step (
    id bigint generated always as identity primary key,
    member_id text collate "C" not null, journey text collate "C" not null, visit integer not null,
    branch integer, due timestamptz not null  -- without a branch it is the wait before all of them
);
grant select, insert, delete, update on classic_step to abacus_app;
create index classic_step_due_id_idx on classic_step (due, id);
"""
_WAIT: Final = """
insert into classic_step (member_id, journey, visit, due)
select 'member-' || n, $1, 1, $2 from generate_series($3::bigint, $4::bigint - 1) n
"""
_COLUMNS: Final = ("member_id", "journey", "visit", "branch", "due")
_TAKE: Final = """
select id, member_id, visit, branch from classic_step where due <= $1 order by due, id limit $2 for update skip locked
"""
_DELETE: Final = "delete from classic_step where id = any($1)"
_LEAVE: Final = """
update seat set left_at = $1, why = 'through' where journey = $2 and member_id = any($3) and left_at is null
"""


class _Step(NamedTuple):
    id: int
    member_id: str
    visit: int
    branch: int | None


class Classic:
    """Members who have seats, and go by themselves from branch to branch."""

    def __init__(self, running: Running, owner: Pool, journey: str, members: range) -> None:
        """`owner` has the rights to make a table."""
        self._running = running
        self._owner = owner
        self._journey = running.journeys[journey]
        self._members = members

    async def wait(self) -> None:
        """Everybody waits for the branches, and is due at once."""
        await self._owner.execute(_TABLE)
        some = self._journey.name, PAST, self._members.start, self._members.stop
        await self._owner.execute(_WAIT, *some, timeout=3600)
        await self._owner.execute("vacuum analyze classic_step", timeout=3600)

    async def run(self, at_once: int) -> None:
        """Runs what is due, which is everything: so many rows in a transaction."""
        while await self._some(at_once):
            pass

    async def _some(self, at_once: int) -> bool:
        """Whether there were any that are due."""
        async with self._running.pool.acquire() as connection, connection.transaction():
            now = datetime.now(UTC)
            steps = [_Step(*row) for row in await connection.fetch(_TAKE, now, at_once)]
            if steps:
                await self._step(connection, steps, now)
            return bool(steps)

    async def _step(self, connection: Connection, steps: Sequence[_Step], now: datetime) -> None:
        name = self._journey.name
        seats = {
            each.member_id: each for each in await lock_seats(connection, name, {each.member_id for each in steps})
        }
        await self._schedule(connection, [each for each in steps if each.branch is None and each.member_id in seats])
        sets = await self._running.segments.sets([f"part_{part}" for part in range(BRANCHES - 1)])
        actions = list[PlannedAction]()
        for each in steps:
            seat = seats.get(each.member_id)
            if seat is not None and each.branch is not None and takes(seat, each.branch, sets):
                actions += await self._done(seat, each.branch, now)
        if actions:
            await plan_once(connection, actions, now)
            await connection.execute(_LEAVE, now, name, [each.member_id for each in actions])
        await connection.execute(_DELETE, [each.id for each in steps])

    async def _schedule(self, connection: Connection, waited: Iterable[_Step]) -> None:
        """A row for each branch, of members whose wait before is over."""
        name = self._journey.name
        rows = [(each.member_id, name, each.visit, branch, PAST) for each in waited for branch in range(BRANCHES)]
        if rows:
            await connection.copy_records_to_table("classic_step", records=rows, columns=_COLUMNS)

    async def _done(self, seat: Seat, branch: int, now: datetime) -> Sequence[PlannedAction]:
        node = self._journey.nodes[f"tell_{branch}"].number
        deed = DeedRow(seat.journey, now, 0, seat.version, node, 0, None, [seat.member], [seat.visit])
        return [action for _, action in (await self._running.actions(deed, [seat])).made]


def takes(seat: Seat, branch: int, sets: Mapping[str, Members]) -> bool:
    """Whether the member is one of the branch's: of its segment, or of none."""
    if branch < BRANCHES - 1:
        return seat.member in sets[f"part_{branch}"]
    return not any(seat.member in each for each in sets.values())
