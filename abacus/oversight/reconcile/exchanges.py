"""What was exchanged, held against the ledger, limits and positions: each exchange's points are in one place.

Whatever the ledger has under keys of exchanges has its exchange, and no hold without an end is left behind by one.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

from abacus.core.ids import EXCHANGES
from abacus.exchanges.decide.caps import EVER, UNCOUNTED
from abacus.exchanges.decide.exchange import HOLDING, UNSETTLED, Exchange
from abacus.exchanges.decide.position import EntryKind, change
from abacus.exchanges.exchange_rows import exchange_of
from abacus.oversight.reconcile.decide.exchanged import Entered, Hold, Kept, Posted, faults_of, keys_of
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns

_PAGE: Final = 1_000
_FIRST: Final = UUID(int=0)
_BEHIND: Final = f"{EXCHANGES[:-1]};"  # the first text behind all keys of exchanges
_UNCOUNTED: Final = ", ".join(f"'{each}'" for each in UNCOUNTED)
_SIGNED: Final = " ".join(f"when '{each}' then {change(each, Decimal(1))} * money" for each in EntryKind)

_USES: Final = Statement(f"""
with counted as (
    select e.programme as owner, e.direction, e.points,
        (coalesce(e.asked_at, e.quoted_at) at time zone (p.document->>'timezone'))::date::text as day
    from exchange e join exchange_programme p on p.name = e.programme and p.version = e.version
    where e.state not in ({_UNCOUNTED})
), used as (
    select owner, direction, period, sum(points)::bigint as points from (
        select owner, direction, day as period, points from counted
        union all
        select owner, direction, '{EVER}', points from counted
    ) each group by owner, direction, period
)
select owner, direction, period, coalesce(u.points, 0) as counted, coalesce(r.points, 0) as exchanged
from exchange_use u full join used r using (owner, direction, period)
where coalesce(u.points, 0) <> coalesce(r.points, 0) order by 1, 2, 3
""")
_POSITIONS: Final = Statement(f"""
with entries as (
    select programme, n, balance_after, row_number() over numbered as place,
        sum(case kind {_SIGNED} end) over numbered as balance
    from exchange_position window numbered as (partition by programme order by n)
), summed as (
    select programme, max(n) as last_n, coalesce(max(balance) filter (where n = last), 0) as balance,
        count(*) filter (where place <> n or balance <> balance_after) as wrong
    from (select *, max(n) over (partition by programme) as last from entries) each group by programme
)
select programme, coalesce(s.last_n, 0), coalesce(s.balance, 0), coalesce(e.last_n, 0), coalesce(e.balance, 0),
    coalesce(e.wrong, 0)
from exchange_standing s full join summed e using (programme)
where (coalesce(s.last_n, 0), coalesce(s.balance, 0), 0)
    is distinct from (coalesce(e.last_n, 0), coalesce(e.balance, 0), coalesce(e.wrong, 0))
order by programme
""")
_STRANGE: Final = Statement("""
select p.programme, p.n from exchange_position p
where p.exchange_id is not null and not exists (select from exchange e where e.exchange_id = p.exchange_id)
order by 1, 2
""")
_ROWS: Final = Statement(f"""
select {columns(Exchange)} from exchange where exchange_id > :after order by exchange_id limit {_PAGE}
""")
_POSTED: Final = Statement("""
select t.key, t.kind, t.points from unnest(:keys::text[]) as u (key)
join claim c on c.key = u.key
join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq and t.key = u.key
""")
_HOLDS: Final = Statement("""
select hold_id, points, status, settled_by from hold
where hold_id = any(:ids::uuid[]) and member_id = any(:members::text[])
""")
_ENTRIES: Final = Statement(f"""
select exchange_id, {columns(Entered)} from exchange_position where exchange_id = any(:ids::uuid[])
""")
_ALL_POSTED: Final = f"select count(*) from claim where key > '{EXCHANGES}' and key < '{_BEHIND}'"
_ENDLESS: Final = "select hold_id, points from hold where until is null and status = 'open'"
_STILL: Final = Statement("""
select exchange_id from exchange where exchange_id = any(:ids::uuid[]) and state = any(:states::text[])
""")


class ExchangeFault(NamedTuple):
    """What does not come out, and of what."""

    about: str
    fault: str


class ExchangeBooks(NamedTuple):
    """How many exchanges were looked at, how many are unfinished, and every fault."""

    exchanges: int
    unfinished: int
    faults: Sequence[ExchangeFault]


async def exchange_books(pool: Pool) -> ExchangeBooks:
    """While exchanges are under way some may seem at fault. Raises `Unavailable`."""
    async with passing_failures():
        faults = await _of_sums(pool)
        after, seen, unfinished, posted = _FIRST, 0, 0, 0
        while rows := [exchange_of(row) for row in await pool.fetch(*_ROWS(after=after))]:
            after, seen = rows[-1].exchange_id, seen + len(rows)
            unfinished += sum(each.state in UNSETTLED for each in rows)
            kept = await _kept(pool, rows)
            posted += sum(len(each.posted) for each in kept.values())
            for each in rows:
                faults += [_fault(each, fault) for fault in faults_of(each, kept[each.exchange_id])]
        in_ledger = sum(row["count"] for row in await slices.rows(pool, (_ALL_POSTED,)))
        if in_ledger != posted:
            fault = f"{in_ledger:,} movements of exchanges are posted, {posted:,} have an exchange"
            faults.append(ExchangeFault("ledger", fault))
        faults += await _left_behind(pool)
    return ExchangeBooks(seen, unfinished, faults)


async def _of_sums(pool: Pool) -> list[ExchangeFault]:
    faults = []
    for owner, direction, period, counted, exchanged in await pool.fetch(*_USES()):
        about = f"{owner} {direction} {period}".rstrip()
        faults.append(ExchangeFault(about, f"{counted:,} points are counted, {exchanged:,} were exchanged"))
    for programme, last_n, balance, entries, sum_, wrong in await pool.fetch(*_POSITIONS()):
        fault = f"it stands at {balance} after {last_n:,} entries, and {entries:,} entries come to {sum_}"
        faults.append(ExchangeFault(programme, f"{fault}; {wrong:,} have another number or balance"))
    for programme, n in await pool.fetch(*_STRANGE()):
        faults.append(ExchangeFault(programme, f"entry {n:,} is of an exchange that there is not"))
    return faults


async def _kept(pool: Pool, rows: Sequence[Exchange]) -> Mapping[UUID, Kept]:
    keys = {each.exchange_id: keys_of(each).values() for each in rows}
    found = await slices.rows(pool, _POSTED(keys=[key for some in keys.values() for key in some]))
    posted = {row["key"]: Posted(row["kind"], row["points"]) for row in found}
    ids, whose = list(keys), sorted({each.member_id for each in rows})
    held = await slices.rows(pool, _HOLDS(ids=ids, members=whose))
    holds = {row["hold_id"]: Hold(*row[1:]) for row in held}
    entries: dict[UUID, list[Entered]] = {}
    for row in await pool.fetch(*_ENTRIES(ids=ids)):
        entries.setdefault(row["exchange_id"], []).append(Entered(*row[1:]))
    return {
        id_: Kept({key: posted[key] for key in some if key in posted}, holds.get(id_), entries.get(id_, ()))
        for id_, some in keys.items()
    }


async def _left_behind(pool: Pool) -> list[ExchangeFault]:
    """Holds without an end whose exchange does not hold any more, or never was."""
    open_: dict[UUID, Any] = {row["hold_id"]: row["points"] for row in await slices.rows(pool, (_ENDLESS,))}
    states = [each.value for each in HOLDING]
    still = {row["exchange_id"] for row in await pool.fetch(*_STILL(ids=list(open_), states=states))}
    return [
        ExchangeFault(str(id_), f"{points:,} points are held for good, and no exchange settles them")
        for id_, points in sorted(open_.items())
        if id_ not in still
    ]


def _fault(exchange: Exchange, fault: str) -> ExchangeFault:
    return ExchangeFault(str(exchange.exchange_id), fault)
