"""What was redeemed, held against stock, codes and the ledger: nothing is taken without a redemption.

The points of a redemption are a hold that became a spend, and a reversal where they came back.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.engage.rewards.decide.redemption import PAID, USING, Redemption, Stage
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns

_USING: Final = ", ".join(f"'{each}'" for each in USING)
_WAITING: Final = (Stage.OPENED, Stage.TAKEN, Stage.RELEASING)
_CODED: Final = (Stage.TAKEN, Stage.GIVEN, Stage.RETURNING, Stage.RETURNED)
_PAGE: Final = 1_000

_USES: Final = Statement(f"""
select coalesce(u.reward, r.reward) as reward, coalesce(u.pieces, 0) as counted, coalesce(r.pieces, 0) as redeemed
from (select reward, pieces from reward_use where period = '') u
full join (
    select reward, sum(quantity)::bigint as pieces from reward_redemption where stage in ({_USING}) group by reward
) r on r.reward = u.reward
where coalesce(u.pieces, 0) <> coalesce(r.pieces, 0) order by 1
""")
_CODES: Final = Statement(f"""
select r.key, r.quantity, (select count(*) from reward_code c where c.redemption_id = r.redemption_id) as codes
from reward_redemption r
where r.pool is not null
    and (select count(*) from reward_code c where c.redemption_id = r.redemption_id)
        <> case when r.stage in ({", ".join(f"'{each}'" for each in _CODED)}) then r.quantity else 0 end
order by r.key limit {_PAGE}
""")
_ROWS: Final = Statement(f"""
select {columns(Redemption)} from reward_redemption where key > :after order by key limit {_PAGE}
""")
_POSTED: Final = Statement("""
select t.key from unnest(:members::text[], :programs::text[], :keys::text[]) as u (member_id, program, key)
join claim c on c.key = u.key
join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq and t.key = u.key
""")
_HELD: Final = Statement("""
select h.hold_id from hold h where h.hold_id = any(:ids::uuid[]) and h.member_id = any(:members::text[])
    and h.status = 'open'
""")


class RewardFault(NamedTuple):
    """What does not come out, and of what."""

    about: str
    fault: str


class RewardBooks(NamedTuple):
    """How many redemptions were looked at, and every fault."""

    redemptions: int
    waiting: int
    faults: Sequence[RewardFault]


async def reward_books(pool: Pool) -> RewardBooks:
    """While redemptions are under way some may seem at fault. Raises `Unavailable`."""
    faults: list[RewardFault] = []
    async with passing_failures():
        for reward, counted, redeemed in await pool.fetch(*_USES()):
            faults.append(RewardFault(reward, f"{counted:,} pieces are counted, {redeemed:,} were redeemed"))
        for key, quantity, codes in await pool.fetch(*_CODES()):
            faults.append(RewardFault(key, f"it has {codes} codes for {quantity} pieces"))
        after, seen, waiting = "", 0, 0
        while rows := [Redemption(*row) for row in await pool.fetch(*_ROWS(after=after))]:
            after, seen = rows[-1].key, seen + len(rows)
            waiting += sum(not each.ended for each in rows)
            faults += await _against_the_ledger(pool, rows)
    return RewardBooks(seen, waiting, faults)


async def _against_the_ledger(pool: Pool, rows: Sequence[Redemption]) -> list[RewardFault]:
    paid, back = _of(rows, "capture"), _of(rows, "back")
    members = [each.member_id for each in rows] * 2
    programs, keys = [each.program for each in rows] * 2, [*paid.values(), *back.values()]
    posted = {row["key"] for row in await slices.rows(pool, _POSTED(members=members, programs=programs, keys=keys))}
    ids, whose = [each.redemption_id for each in rows], sorted({each.member_id for each in rows})
    held = {row["hold_id"] for row in await slices.rows(pool, _HELD(ids=ids, members=whose))}
    faults = []
    for each in rows:
        is_paid, is_back = paid[each.key] in posted, back[each.key] in posted
        if each.stage in PAID and (not is_paid or is_back):
            faults.append(RewardFault(each.key, f"it is {each.stage}, and its points are not paid"))
        if each.stage in {Stage.CANCELLED, Stage.RETURNED} and not (is_paid and is_back):
            faults.append(RewardFault(each.key, f"it is {each.stage}, and its points are not back"))
        if each.stage == Stage.REFUSED and is_paid:
            faults.append(RewardFault(each.key, "it is refused, and its points are paid"))
        if each.redemption_id in held and each.stage not in _WAITING:
            faults.append(RewardFault(each.key, f"it is {each.stage}, and points are held for it"))
    return faults


def _of(rows: Sequence[Redemption], what: str) -> dict[str, str]:
    return {each.key: f"redemption:{each.redemption_id}:{what}" for each in rows}
