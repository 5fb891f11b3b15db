"""One table of transfers against one that is cut up by the month of posting: what posting writes, and what is read.

Both hold the same rows, a month of them after the other, each member with one a month, as a ledger grows. Then both
take the rows of the next month and are asked the same questions, in turns.
"""

import random
import time
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from abacus.ledger.types.award import Kind
from abacus.ledger.types.transfer import Transfer
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import Connection, open_pool
from benchmarks.report import Figure, rate

MEMBERS: Final = 400_000
MONTHS: Final = 12  # that are there; the rows of the next one are copied in
ROUNDS: Final = 6
COPIED: Final = 10_000  # a round, for each of the two
BATCH: Final = 500
ASKED: Final = 300  # times, for what is about one member
SPAN: Final = 20_000  # members that are verified

_FIRST: Final = datetime(2025, 1, 1, tzinfo=UTC)
_EXPLANATION: Final = (
    '{"amount":"15.00","currency":"SGD","card":"SG@7","factors":[["vertical","food","2"],["eppf","SG","1"],'
    '["cashless","wallet","2"],["tier","platinum","3"]],"product":"180.00","rounding":"floor","points":180}'
)
# Postgres wants the column that cuts the table in each unique key: nothing then keeps a number from being given twice.
_TABLES: Final = {"whole": "member_id, program, seq", "cut": "member_id, program, seq, posted_at"}
_INDEXES: Final = (
    "alter table {0} add primary key ({1})",
    "create index on {0} (xid)",
    "create index on {0} using brin (posted_at)",
    "create index on {0} (member_id, program, reverses) where reverses is not null",
)
# A month's rows lie in the order of their time, each of a member far from the one before.
_FILL: Final = """
insert into {0} ({1}, xid)
select 'm' || lpad((n * 7919::bigint % $4::int)::text, 8, '0'), 'GRP', $1::int, 'earn', 180, 180 * $1::int,
    'txn:rides:T-' || md5($1::text || n), 'SG', $2::timestamptz, $2::timestamptz + n * interval '5 seconds',
    date '2026-07-31', $3::text::json, null, null, sha256(n::text::bytea), '1'::xid8
from generate_series(0, $4::int - 1) as n
"""

_NEWEST: Final = "select * from {0} where member_id = $1 and program = 'GRP' order by seq desc limit 20"
_ONE: Final = "select * from {0} where member_id = $1 and program = 'GRP' and seq = 3"
_RELAY: Final = """
select * from {0} where xid >= $1::text::xid8 and xid < pg_snapshot_xmin(pg_current_snapshot())
    and (xid, member_id, program, seq) > ($1::text::xid8, '', '', 0)
order by xid, member_id, program, seq limit 2000
"""
_VERIFY: Final = """
select count(hash), max(length(explanation::text)) from (
    select * from {0} where member_id < $1 order by member_id, program, seq
) t
"""
_OF_A_MONTH: Final = """
select kind, count(*), sum(points) from {0} where posted_at >= timestamptz '2025-06-01 00:00+00'
    and posted_at < timestamptz '2025-07-01 00:00+00' group by kind
"""
_INDEX_BYTES: Final = """
select pg_indexes_size($1::text::regclass)
    + coalesce((select sum(pg_indexes_size(inhrelid)) from pg_inherits where inhparent = $1::text::regclass), 0)
"""


class Cost(NamedTuple):
    """What the same thing took of the one and of the other, in seconds or bytes."""

    whole: float
    cut: float


async def measure(directory: Path) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        await migrate(stack.database_url or "")
        pool = await open_pool(stack.database_url or "", size=1, role=None)
        try:
            async with pool.acquire() as connection:
                await _fill(connection)
                return await _measure(connection)
        finally:
            await pool.close()


async def _fill(connection: Connection) -> None:
    await connection.execute("create table whole (like transfer including defaults)")
    await connection.execute("create table cut (like transfer including defaults) partition by range (posted_at)")
    for month in range(MONTHS + 1):
        await connection.execute(
            f"create table cut_{month} partition of cut for values from ('{_begin(month)}') to ('{_begin(month + 1)}')"
        )
    columns = ", ".join(Transfer._fields)
    for table, key in _TABLES.items():
        for month in range(MONTHS):
            filling = _FILL.format(table, columns)
            await connection.execute(filling, month + 1, _begin(month), _EXPLANATION, MEMBERS, timeout=600)
        for statement in _INDEXES:
            await connection.execute(statement.format(table, key), timeout=600)
        await connection.execute(f"vacuum analyze {table}", timeout=600)
    await connection.execute("checkpoint", timeout=600)


def _begin(month: int) -> datetime:
    return _FIRST.replace(year=_FIRST.year + month // 12, month=month % 12 + 1)


async def _measure(connection: Connection) -> list[Figure]:
    chance = random.Random(1)
    copying, written = await _copy(connection, chance)
    someone = [_member(chance.randrange(MEMBERS)) for _ in range(ASKED)]
    xid = await connection.fetchval("select min(xid)::text from whole where xid > '1'")
    newest = await _asked(connection, _NEWEST, [(member,) for member in someone])
    one = await _asked(connection, _ONE, [(member,) for member in someone])
    relay = await _asked(connection, _RELAY, [(xid,)] * 9)
    verifying = await _asked(connection, _VERIFY, [(_member(SPAN),)] * 3)
    summing = await _asked(connection, _OF_A_MONTH, [()] * 3)
    rows = MEMBERS * MONTHS
    keys = Cost(*[await connection.fetchval(_INDEX_BYTES, table) for table in _TABLES])
    began = time.monotonic()
    await connection.execute("alter table cut detach partition cut_0")
    detached = time.monotonic() - began
    copied = ROUNDS * COPIED
    return [
        Figure(
            f"COPY into one table of {rows:,} transfers, {BATCH} a transaction", rate(copied / copying.whole, "rows")
        ),
        Figure(f"… into {MONTHS + 1} months of it", rate(copied / copying.cut, "rows"), _times(copying)),
        Figure("log written for a row, one table", f"{written.whole / copied:,.0f} bytes"),
        Figure("… by month", f"{written.cut / copied:,.0f} bytes", _times(written)),
        Figure("a member's newest 20, one table", _ms(newest.whole)),
        Figure("… by month", _ms(newest.cut), _times(newest)),
        Figure("one transfer by its number, one table", _ms(one.whole)),
        Figure("… by month", _ms(one.cut), _times(one)),
        Figure("the relay's next 2,000, one table", _ms(relay.whole)),
        Figure("… by month", _ms(relay.cut), _times(relay)),
        Figure(f"the transfers of {SPAN:,} members in order, one table", _ms(verifying.whole)),
        Figure("… by month", _ms(verifying.cut), _times(verifying)),
        Figure("sums of one month, one table", _ms(summing.whole)),
        Figure("… by month", _ms(summing.cut), _times(summing)),
        Figure("indexes, one table", f"{keys.whole / 2**20:,.0f} MiB"),
        Figure("… by month", f"{keys.cut / 2**20:,.0f} MiB", _times(keys)),
        Figure("detaching the oldest month", _ms(detached)),
    ]


async def _copy(connection: Connection, chance: random.Random) -> tuple[Cost, Cost]:
    """Seconds and bytes of log, of the same rows copied into the one and the other; who comes first changes."""
    seconds, bytes_ = dict.fromkeys(_TABLES, 0.0), dict.fromkeys(_TABLES, 0)
    at = _begin(MONTHS)
    posted = chance.sample(range(MEMBERS), (ROUNDS + 1) * COPIED)
    for round_ in range(ROUNDS + 1):
        members = posted[round_ * COPIED : (round_ + 1) * COPIED]
        rows = [_transfer(number, at + timedelta(seconds=place)) for place, number in enumerate(members)]
        for table in sorted(_TABLES, reverse=bool(round_ % 2)):
            log = await connection.fetchval("select pg_current_wal_lsn()")
            began = time.monotonic()
            for start in range(0, COPIED, BATCH):
                batch = sorted(rows[start : start + BATCH])
                await connection.copy_records_to_table(table, records=batch, columns=Transfer._fields)
            took = time.monotonic() - began
            if round_:  # the first one warms up
                seconds[table] += took
                bytes_[table] += await connection.fetchval("select pg_current_wal_lsn() - $1::pg_lsn", log)
    return Cost(seconds["whole"], seconds["cut"]), Cost(bytes_["whole"], bytes_["cut"])


async def _asked(connection: Connection, question: str, with_: Sequence[tuple[object, ...]]) -> Cost:
    """The median time of a question, put to the one and to the other in turns; the first answers do not count."""
    statements = {table: await connection.prepare(question.format(table)) for table in _TABLES}
    times: dict[str, list[float]] = {table: [] for table in _TABLES}
    for round_, parameters in enumerate((with_[0], *with_)):
        for table in sorted(_TABLES, reverse=bool(round_ % 2)):
            began = time.monotonic()
            await statements[table].fetch(*parameters)
            times[table].append(time.monotonic() - began)
    return Cost(median(times["whole"][1:]), median(times["cut"][1:]))


def _member(number: int) -> str:
    return f"m{number:08}"


def _transfer(number: int, at: datetime) -> Transfer:
    return Transfer(
        member_id=_member(number),
        program="GRP",
        seq=MONTHS + 1,
        kind=Kind.EARN,
        points=180,
        balance_after=180 * (MONTHS + 1),
        key=f"txn:rides:T-{number:032}",
        country="SG",
        occurred_at=at,
        posted_at=at,
        expires_on=date(2026, 7, 31),
        explanation=_EXPLANATION.encode(),
        reverses=None,
        actor=None,
        source=None,
        format=1,
        hash=number.to_bytes(32),
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.2f} ms"


def _times(cost: Cost) -> str:
    return f"{cost.cut / cost.whole:.2f} times"
