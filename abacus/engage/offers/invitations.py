"""Who is invited to which offers: one row for each member, in the member's slice."""

from collections.abc import Callable, Collection, Coroutine, Sequence
from itertools import chain
from typing import Any, Final

from abacus.platform import slices
from abacus.platform.postgres import Pool, rows_changed
from abacus.platform.slices import Slice
from abacus.platform.sql import Statement

AT_ONCE: Final = 20_000  # members who are looked at again at once

# The offers to which the member of a row called `u` is invited.
INVITED: Final = "select i.offers from offer_invitation i where i.member_id = u.member_id"
# Members are locked in one order, so that two who invite at once do not wait for each other.
_ADD: Final = Statement("""
insert into offer_invitation as i (member_id, offers)
select member_id, array[:number::integer] from unnest(:members::text[]) as m (member_id) order by member_id
on conflict (member_id) do update set offers = i.offers || excluded.offers where not i.offers @> excluded.offers
""")
_LOCK: Final = """
with locked as (
    select member_id from offer_invitation
    where member_id = any(:members::text[]) and offers @> array[:number::integer] order by member_id for update
)"""
_TAKE: Final = Statement(f"""
{_LOCK}
update offer_invitation i set offers = array_remove(i.offers, :number::integer)
from locked where i.member_id = locked.member_id
""")
_SWEEP: Final = Statement("""
delete from offer_invitation where member_id = any(:members::text[]) and offers = '{}'
""")
_INVITED: Final = Statement("""
select member_id from offer_invitation
where offers @> array[:number::integer] and member_id > :after order by member_id limit :most
""")
_AMONG: Final = Statement("""
select member_id from offer_invitation
where member_id = any(:members::text[]) and offers @> array[:number::integer]
""")
_COUNT: Final = Statement("select count(*) from offer_invitation where offers @> array[:number::integer]")


class InvitationStore:
    """Offers are named by their numbers. What was cut off is done when it is done again. Every method raises
    `Unavailable` while the database is away.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, number: int, members: Collection[str]) -> int:
        """Invites members; returns how many were not invited before."""

        async def work(slice_: Slice, some: Sequence[str]) -> int:
            async with slice_.at() as connection:
                return await rows_changed(connection, _ADD(number=number, members=list(some)))

        return await self._sum(members, work)

    async def remove(self, number: int, members: Collection[str]) -> int:
        """Takes invitations back; returns of how many members."""

        async def work(slice_: Slice, some: Sequence[str]) -> int:
            given = list(some)
            async with slice_.at() as connection, connection.transaction():
                taken = await rows_changed(connection, _TAKE(number=number, members=given))
                await connection.execute(*_SWEEP(members=given))
            return taken

        return await self._sum(members, work)

    async def remove_others(self, number: int, kept: Collection[str], *, at_once: int = AT_ONCE) -> int:
        """Takes the invitations of all members back who are not among those that are kept."""
        removed = 0
        for slice_ in await slices.slices_of(self._pool):
            after = ""
            while True:
                async with slice_.at() as connection:
                    rows = await connection.fetch(*_INVITED(number=number, after=after, most=at_once))
                if not rows:
                    break
                after = rows[-1]["member_id"]
                removed += await self.remove(
                    number, [each["member_id"] for each in rows if each["member_id"] not in kept]
                )
        return removed

    async def among(self, number: int, members: Collection[str]) -> set[str]:
        """The invitations of these members."""

        async def work(slice_: Slice, some: Sequence[str]) -> list[str]:
            async with slice_.at() as connection:
                rows = await connection.fetch(*_AMONG(number=number, members=list(some)))
            return [row["member_id"] for row in rows]

        split = await slices.split(self._pool, members, work, member_of=str, patience_s=None)
        return set(chain.from_iterable(split.whole()))

    async def count(self, number: int) -> int:
        """How many members are invited to an offer. It reads every row."""
        return sum(row["count"] for row in await slices.rows(self._pool, _COUNT(number=number)))

    async def _sum(
        self, members: Collection[str], work: Callable[[Slice, Sequence[str]], Coroutine[Any, Any, int]]
    ) -> int:
        if not members:
            return 0
        split = await slices.split(self._pool, members, work, member_of=str, patience_s=None)
        return sum(split.whole())
