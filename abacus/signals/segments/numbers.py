"""Numbers of members, from 0 on and close together, as segments need them. Only members of segments have one."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from pyroaring import FrozenBitMap

from abacus.core.errors import Refused
from abacus.core.members import fault_of_new_member, strange_among
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, array, column
from abacus.signals.segments.types import Members

_KNOWN: Final = Statement(f"""
select member_id, number from member_number where member_id = any({array("members", "text")})
""")
# The number of the member of a row called `u`, where it has one.
NUMBER: Final = "(select n.number from member_number n where n.member_id = u.member_id)"
# Waits until another transaction that gives numbers has ended.
_LOCK: Final = Statement("""
insert into member_number_next ("of", "next") values ('members', 0)
on conflict ("of") do update set "next" = member_number_next."next"
returning "next"
""")
_GIVE: Final = Statement(f"""
insert into member_number (member_id, number)
select member_id, :first::integer + place::integer - 1
from unnest({array("members", "text")}) with ordinality as u (member_id, place)
""")
_MOVE: Final = Statement("""update member_number_next set "next" = :next where "of" = 'members'""")
_MEMBERS: Final = Statement("""
select member_id from member_number where number = any(:numbers::integer[]) order by number
""")
_WITH_ACCOUNT: Final = Statement(f"""
select distinct member_id from account where member_id = any({array("members", "text")})
""")
_ERASED: Final = "select number from member_number_erased"


class MemberNumbers:
    """A number is never changed and never given twice, also after its member was erased. Every method raises
    `Unavailable` while the database is away.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def known(self, member_ids: Collection[str]) -> dict[str, int]:
        """The numbers of the members that have one."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _known(connection, member_ids)

    async def give(self, member_ids: Iterable[str]) -> dict[str, int]:
        """The numbers of all, given where there was none. One transaction at a time gives numbers. Raises `Refused`
        for an id that no new member may have.
        """
        wanted = dict.fromkeys(member_ids)
        numbers = await self.known(wanted)
        missing = [each for each in wanted if each not in numbers]
        if not missing:
            return numbers
        await self.check_newcomers(missing)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            following = await connection.fetchval(*_LOCK())
            meanwhile = await _known(connection, missing)
            new = [each for each in missing if each not in meanwhile]
            if new:
                await connection.execute(*_GIVE(members=column(new), first=following))
                await connection.execute(*_MOVE(next=following + len(new)))
        return {**numbers, **meanwhile, **{each: following + place for place, each in enumerate(new)}}

    async def check_newcomers(self, member_ids: Iterable[str]) -> None:
        """Raises `Refused` for an id that no new member may have."""
        strange = strange_among(member_ids)
        if unknown := await self.strangers(strange):
            more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
            raise Refused(f"{fault_of_new_member(unknown[0])}{more}")

    async def strangers(self, member_ids: Collection[str]) -> list[str]:
        """The members that have no account."""
        if not member_ids:
            return []
        async with passing_failures():
            known = {row[0] for row in await self._pool.fetch(*_WITH_ACCOUNT(members=column(member_ids)))}
        return [each for each in member_ids if each not in known]

    async def members(self, numbers: Sequence[int]) -> list[str]:
        """The members with these numbers, by number. Numbers of erased members are left out."""
        async with passing_failures():
            return [row[0] for row in await self._pool.fetch(*_MEMBERS(numbers=list(numbers)))]


async def erased_numbers(connection: Connection) -> Members:
    """The numbers that mean nobody any more, for a transaction that makes a version."""
    return FrozenBitMap([row[0] for row in await connection.fetch(_ERASED)])


async def _known(connection: Connection, member_ids: Collection[str]) -> dict[str, int]:
    rows: list[Any] = await connection.fetch(*_KNOWN(members=column(member_ids)))
    return {row[0]: row[1] for row in rows}
