"""Reading redemptions, and what is left of rewards for a member."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from abacus.core.errors import Unavailable
from abacus.engage.rewards.decide.draft import Wanted
from abacus.engage.rewards.decide.place import Place
from abacus.engage.rewards.decide.redemption import USING, Redemption
from abacus.engage.rewards.decide.stock import EVER, MemberUse, Shelf, Use
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

_COLUMNS: Final = columns(Redemption)
_USING: Final = ", ".join(f"'{each}'" for each in USING)
_WITHIN_S: Final = 2.0
_MOST_CODES: Final = 100  # nobody asks for more at once

_ONE: Final = Statement(f"select {_COLUMNS} from reward_redemption where key = :key")
_OF_ID: Final = Statement(f"""
select {_COLUMNS} from reward_redemption where redemption_id = :redemption_id and member_id = :member_id
""")
_OF_MEMBER: Final = Statement(f"""
select {_COLUMNS} from reward_redemption
where member_id = :member_id
    and (:asked_at::timestamptz is null or (asked_at, redemption_id) < (:asked_at, :redemption_id::uuid))
order by asked_at desc, redemption_id desc limit :most
""")
_BY_ID: Final = Statement(f"select {_COLUMNS} from reward_redemption where redemption_id = :redemption_id")
_OF_REWARD: Final = Statement(f"""
select {_COLUMNS} from reward_redemption
where reward = :reward and (:stages::text[] is null or stage = any(:stages))
    and (:is_late::boolean is null or coalesce(late_at <= :now, false) = :is_late)
    and (:asked_at::timestamptz is null or (asked_at, redemption_id) < (:asked_at, :redemption_id::uuid))
order by asked_at desc, redemption_id desc limit :most
""")
_USES: Final = Statement(f"""
select r.reward, r.period, r.pieces from {unnested(Use)} join reward_use r using (reward, period)
""")
_MEMBER_USES: Final = Statement(f"""
select reward, day, sum(quantity)::bigint as pieces from reward_redemption
where member_id = :member_id and stage in ({_USING}) group by reward, day
""")
_FREE: Final = Statement(f"""
select p.name, least(p.loaded - p.given + (
    select count(*) from (select from reward_code c where c.pool = p.name and c.is_spare limit {_MOST_CODES}) s
), {_MOST_CODES})::bigint as free from reward_pool p where p.name = any(:names::text[])
""")


class RedemptionReader:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of_key(self, key: str) -> Redemption | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_ONE(key=key))
        return Redemption(*row) if row else None

    async def one(self, member_id: str, redemption_id: UUID) -> Redemption | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_OF_ID(member_id=member_id, redemption_id=redemption_id))
        return Redemption(*row) if row else None

    async def of_member(self, member_id: str, most: int, after: Place | None = None) -> list[Redemption]:
        """The newest first, or the next after a place in this order."""
        asked_at, redemption_id = after or (None, None)
        statement = _OF_MEMBER(member_id=member_id, most=most, asked_at=asked_at, redemption_id=redemption_id)
        async with passing_failures():
            rows = await self._pool.fetch(*statement)
        return [Redemption(*row) for row in rows]

    async def of_id(self, redemption_id: UUID) -> Redemption | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_BY_ID(redemption_id=redemption_id))
        return Redemption(*row) if row else None

    async def of_reward(
        self,
        reward: str,
        most: int,
        *,
        now: datetime,
        stages: Sequence[str] | None = None,
        is_late: bool | None = None,
        after: Place | None = None,
    ) -> list[Redemption]:
        """The newest first, at some stages or at all; of sent ones only the late, or only the others."""
        asked_at, redemption_id = after or (None, None)
        statement = _OF_REWARD(
            reward=reward,
            stages=None if stages is None else list(stages),
            is_late=is_late,
            now=now,
            asked_at=asked_at,
            redemption_id=redemption_id,
            most=most,
        )
        try:
            async with passing_failures():
                return [Redemption(*row) for row in await self._pool.fetch(*statement, timeout=_WITHIN_S)]
        except TimeoutError:
            raise Unavailable("list of redemptions", "to look through them takes too long") from None

    async def shelf(self, member_id: str, wanted: Sequence[Wanted]) -> Shelf:
        """What is left of these rewards at the moment; nothing is taken."""
        uses = [Use(each.reward, period) for each in wanted for period in (EVER, each.day.isoformat())]
        names = [each.pool for each in wanted if each.pool is not None]
        async with passing_failures(), self._pool.acquire() as connection:
            used = await connection.fetch(*_USES(**arrays(Use, uses)))
            mine = await connection.fetch(*_MEMBER_USES(member_id=member_id))
            free = await connection.fetch(*_FREE(names=names)) if names else []
        of_member: dict[MemberUse, int] = {}
        for reward, day, pieces in mine:
            ever = MemberUse(member_id, reward, None)
            of_member[ever] = of_member.get(ever, 0) + pieces
            of_member[MemberUse(member_id, reward, day)] = pieces
        return Shelf({Use(*row[:2]): row[2] for row in used}, of_member, {name: range(n) for name, n in free})
