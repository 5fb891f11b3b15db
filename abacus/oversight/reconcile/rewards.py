"""What was redeemed, held against stock, codes, deliveries and the ledger: nothing is taken without a redemption.

The points of a redemption are a hold that became a spend, and a reversal where they came back.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from abacus.core.ids import REDEMPTIONS, redemption_key
from abacus.engage.rewards.decide.redemption import PAID, USING, Redemption, Stage
from abacus.engage.rewards.decide.stock import EVER
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns

_USING: Final = ", ".join(f"'{each}'" for each in USING)
_WAITING: Final = (Stage.OPENED, Stage.TAKEN, Stage.RELEASING)
_CODED: Final = (Stage.TAKEN, Stage.GIVEN, Stage.RETURNING, Stage.RETURNED)
_PAGE: Final = 1_000
_BEHIND: Final = f"{REDEMPTIONS[:-1]};"  # the first text behind all keys of redemptions

_USES: Final = Statement(f"""
with redeemed as (
    select reward, '{EVER}' as period, quantity from reward_redemption where stage in ({_USING})
    union all
    select reward, day::text, quantity from reward_redemption where stage in ({_USING})
)
select coalesce(u.reward, r.reward) as reward, coalesce(u.period, r.period) as period,
    coalesce(u.pieces, 0) as counted, coalesce(r.pieces, 0) as redeemed
from reward_use u
full join (select reward, period, sum(quantity)::bigint as pieces from redeemed group by reward, period) r
    on (r.reward, r.period) = (u.reward, u.period)
where coalesce(u.pieces, 0) <> coalesce(r.pieces, 0) order by 1, 2
""")
# Places up to `given` were handed out: each has its redemption, or is spare. What lies behind is untouched.
_POOLS: Final = Statement("""
select p.name, p.loaded, count(c.place) as codes,
    count(*) filter (where c.place <= p.given and c.redemption_id is null and not c.is_spare) as lost,
    count(*) filter (where c.place > p.given and (c.redemption_id is not null or c.is_spare)) as beyond,
    count(*) filter (where c.redemption_id is not null and r.redemption_id is null) as strange
from reward_pool p
left join reward_code c on c.pool = p.name
left join reward_redemption r on r.redemption_id = c.redemption_id and r.pool = c.pool
group by p.name, p.loaded, p.given order by p.name
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
select t.key, t.points from unnest(:members::text[], :programs::text[], :keys::text[]) as u (member_id, program, key)
join claim c on c.key = u.key
join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq and t.key = u.key
""")
_PAYMENTS: Final = f"""
select count(*) from claim where key > '{REDEMPTIONS}' and key < '{_BEHIND}' and key like '%:capture'
"""
_HELD: Final = Statement("""
select h.hold_id from hold h where h.hold_id = any(:ids::uuid[]) and h.member_id = any(:members::text[])
    and h.status = 'open'
""")
# Gifts of invitations, and awards of another program: on their way, or in the ledger.
_GIVEN: Final = Statement("""
select key from offer_gift where member_id = any(:members::text[]) and key = any(:keys::text[])
union
select key from action where member_id = any(:members::text[]) and key = any(:keys::text[]) and number = 0
    and refused_at is null
union
select key from claim where key = any(:keys::text[])
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
        for reward, period, counted, redeemed in await pool.fetch(*_USES()):
            of = f"{reward} {period}".rstrip()
            faults.append(RewardFault(of, f"{counted:,} pieces are counted, {redeemed:,} were redeemed"))
        for name, *counts in await pool.fetch(*_POOLS()):
            faults += [RewardFault(name, fault) for fault in _faults_of_pool(*counts)]
        for key, quantity, codes in await pool.fetch(*_CODES()):
            faults.append(RewardFault(key, f"it has {codes} codes for {quantity} pieces"))
        after, seen, waiting, payments = "", 0, 0, 0
        while rows := [Redemption(*row) for row in await pool.fetch(*_ROWS(after=after))]:
            after, seen = rows[-1].key, seen + len(rows)
            waiting += sum(not each.ended for each in rows)
            paid, at_fault = await _against_the_ledger(pool, rows)
            payments, faults = payments + paid, faults + at_fault + await _against_deliveries(pool, rows)
        in_ledger = sum(row["count"] for row in await slices.rows(pool, (_PAYMENTS,)))
    if in_ledger != payments:
        fault = f"{in_ledger:,} payments for rewards are posted, {payments:,} have a redemption"
        faults.append(RewardFault("ledger", fault))
    return RewardBooks(seen, waiting, faults)


def _faults_of_pool(loaded: int, codes: int, lost: int, beyond: int, strange: int) -> Iterator[str]:
    if codes != loaded:
        yield f"{loaded:,} codes were loaded, {codes:,} are there"
    if lost:
        yield f"{lost:,} codes were handed out, and no redemption has them"
    if beyond:
        yield f"{beyond:,} codes are used that were not handed out"
    if strange:
        yield f"{strange:,} codes are of redemptions that there are not"


async def _against_the_ledger(pool: Pool, rows: Sequence[Redemption]) -> tuple[int, list[RewardFault]]:
    """How many of these are paid, and what does not come out."""
    paid, back = _of(rows, "capture"), _of(rows, "back")
    members = [each.member_id for each in rows] * 2
    programs, keys = [each.program for each in rows] * 2, [*paid.values(), *back.values()]
    found = await slices.rows(pool, _POSTED(members=members, programs=programs, keys=keys))
    posted: dict[str, int] = {row["key"]: row["points"] for row in found}
    ids, whose = [each.redemption_id for each in rows], sorted({each.member_id for each in rows})
    held = {row["hold_id"] for row in await slices.rows(pool, _HELD(ids=ids, members=whose))}
    faults = []
    for each in rows:
        is_paid, is_back = paid[each.key] in posted, back[each.key] in posted
        if each.points and each.stage in PAID and (not is_paid or is_back):
            faults.append(RewardFault(each.key, f"it is {each.stage}, and its points are not paid"))
        if is_paid and posted[paid[each.key]] != -each.points:
            fault = f"it costs {each.points:,} points, and {-posted[paid[each.key]]:,} are paid"
            faults.append(RewardFault(each.key, fault))
        if each.points and each.stage in {Stage.CANCELLED, Stage.RETURNED} and not (is_paid and is_back):
            faults.append(RewardFault(each.key, f"it is {each.stage}, and its points are not back"))
        if each.stage == Stage.REFUSED and is_paid:
            faults.append(RewardFault(each.key, "it is refused, and its points are paid"))
        if each.redemption_id in held and each.stage not in _WAITING:
            faults.append(RewardFault(each.key, f"it is {each.stage}, and points are held for it"))
    return sum(key in posted for key in paid.values()), faults


async def _against_deliveries(pool: Pool, rows: Sequence[Redemption]) -> list[RewardFault]:
    """Of invitations, and of points of another program."""
    some = [each for each in rows if each.ended and (each.offer or each.award_program)]
    if not some:
        return []
    keys = [redemption_key(each.redemption_id) for each in some]
    whose = sorted({each.member_id for each in some})
    given = {row["key"] for row in await slices.rows(pool, _GIVEN(members=whose, keys=keys))}
    faults = []
    for each, key in zip(some, keys, strict=True):
        has, is_had = key in given, each.stage in PAID
        if each.offer is not None and has != is_had:
            faults.append(
                RewardFault(each.key, f"it is {each.stage}, and its invitation is {'' if has else 'not '}there")
            )
        if each.award_program is not None and is_had and not has:
            faults.append(RewardFault(each.key, f"it is {each.stage}, and its points are not asked for"))
    return faults


def _of(rows: Sequence[Redemption], what: str) -> dict[str, str]:
    return {each.key: f"{redemption_key(each.redemption_id)}:{what}" for each in rows}
