"""The points topic compared with the ledger: each transfer of the window has its event, and no other event is there."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.errors import Unreadable
from abacus.ledger.types.read_point_event import read_point_event, type_of
from abacus.oversight.reconcile.decide.account import MOST_FINDINGS, Finding, NamedFault
from abacus.oversight.reconcile.decide.lines import Published
from abacus.oversight.reconcile.ledger import PostedInWindow, place_of
from abacus.oversight.reconcile.messages import LONG_S
from abacus.platform import slices
from abacus.platform.kafka.window import Stamped
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, unnested
from abacus.proof.decide.seal_event import TYPE as SEAL
from abacus.proof.examine import CLAIMED_AS

_BATCH: Final = 5000


class _Erased(NamedTuple):
    """A claim of an erased member, under the pseudonym."""

    key: str
    program: str
    seq: int
    member_id: str


_CREATE: Final = """
create temporary table reconcile_event (
    partition int not null, "offset" bigint not null, member_id text collate "C" not null,
    program text collate "C" not null, seq bigint not null, key text collate "C" not null, kind text not null,
    points bigint not null, balance bigint not null
)
"""

# An event about a member who was erased since agrees with the ledger's transfer under the pseudonym. It tells of no
# transfer before it has that name.
_NOT_TRANSFERS: Final = f"""
select distinct e.key from reconcile_event e
left join posted t on t.member_id = e.member_id and t.program = e.program and t.seq = e.seq and t.key = e.key
where t.seq is null and e.key > :after order by e.key limit {_BATCH}
"""
_OF_ERASED: Final = Statement("""
select key, program, seq, member_id from claim where key = any(:keys::text[]) and member_id like 'erased-%'
""")
_RENAME: Final = Statement(f"""
update reconcile_event e set member_id = u.member_id
from {unnested(_Erased)}
where e.key = u.key and e.program = u.program and e.seq = u.seq and e.member_id <> u.member_id
""")

_AGAINST: Final = """
from posted t
left join (select distinct member_id, program, seq from reconcile_event) e
    on e.member_id = t.member_id and e.program = t.program and e.seq = t.seq
"""
_COUNTS: Final = f"""
select count(*) as transfers, count(e.seq) as there,
    count(*) filter (where e.seq is null and t.not_yet) as not_yet,
    count(*) filter (where e.seq is null and not t.not_yet) as missing {_AGAINST}
"""
_MISSING: Final = f"""
select t.key, t.member_id, t.program, t.seq {_AGAINST} where e.seq is null and not t.not_yet limit {MOST_FINDINGS}
"""
_AGAIN: Final = "select count(*) - count(distinct (member_id, program, seq)) from reconcile_event"
_NOT_POSTED: Final = """
from reconcile_event e
left join posted t on t.member_id = e.member_id and t.program = e.program and t.seq = e.seq
    and t.key = e.key and t.kind = e.kind and t.points = e.points and t.balance_after = e.balance
where t.seq is null
"""
_UNKNOWN: Final = f"select count(*) as unknown {_NOT_POSTED}"
_FIRST_UNKNOWN: Final = f"""
select e.key, e.member_id, e.program, e.seq, e.partition, e."offset" {_NOT_POSTED} limit {MOST_FINDINGS}
"""
# Under one key there is one transfer. What is published again is the same transfer.
_DOUBLED: Final = f"""
select claimed, min(id) as one, max(id) as another from (
    select distinct {CLAIMED_AS} as claimed, t.member_id || ' ' || t.program || ' #' || t.seq as id
    from reconcile_event t
) as d group by claimed having count(*) > 1
"""


_TOLD: Final = ("member_id", "program", "seq", "key", "kind", "points", "balance")
_COLUMNS: Final = ("partition", "offset", *_TOLD)


class EventTable:
    """The events that tell of transfers posted in one window, in a table of the session."""

    def __init__(self, connection: Connection, posted: PostedInWindow, start: datetime, end: datetime) -> None:
        self._connection = connection
        self._posted = posted
        self._start, self._end = start, end
        self._unreadable: list[NamedFault] = []
        self._unreadable_in_all = 0

    async def create(self) -> None:
        await self._connection.execute(_CREATE)

    async def enter(self, records: Sequence[Stamped]) -> None:
        rows: list[tuple[object, ...]] = []
        for record in records:
            try:
                event = read_point_event(record.value)
            except Unreadable:
                self._cannot_read(record)
            else:
                if self._start <= event["time"] < self._end:
                    data: Mapping[str, object] = event["data"]
                    rows.append((record.partition, record.offset, *(data[name] for name in _TOLD)))
        await self._connection.copy_records_to_table("reconcile_event", records=rows, columns=_COLUMNS)

    def _cannot_read(self, record: Stamped) -> None:
        if type_of(record.value) == SEAL:  # seals are published there too, and tell of no transfer
            return
        self._unreadable_in_all += 1
        if len(self._unreadable) < MOST_FINDINGS:
            where = f"{record.partition}:{record.offset}"
            self._unreadable.append(NamedFault(Finding.UNKNOWN, "an event that cannot be read", where))

    async def settle(self) -> None:
        """Analyse the table, and give events about members who were erased their pseudonyms. Before it, `posted` has to
        have been looked at.
        """
        await self._connection.execute("analyze reconcile_event", timeout=LONG_S)
        after = ""
        while rows := await self._posted.fetch(_NOT_TRANSFERS, after=after):
            after = rows[-1]["key"]
            await self._rename([row["key"] for row in rows])

    async def _rename(self, keys: Sequence[str]) -> None:
        if erased := [_Erased(*row) for row in await slices.rows_on(self._connection, _OF_ERASED(keys=keys))]:
            await self._connection.execute(*_RENAME(**arrays(_Erased, erased)), timeout=LONG_S)

    async def published(self) -> Published:
        [counts] = await self._posted.fetch(_COUNTS)
        again = await self._connection.fetchval(_AGAIN, timeout=LONG_S)
        [[unknown]] = await self._posted.fetch(_UNKNOWN)
        return Published(**dict(counts), again=again, unknown=unknown, unreadable=self._unreadable_in_all)

    async def missing(self) -> list[NamedFault]:
        rows = await self._posted.fetch(_MISSING)
        return [NamedFault(Finding.NOT_PUBLISHED, row["key"], place_of(row)) for row in rows]

    async def unknown(self) -> list[NamedFault]:
        rows = await self._posted.fetch(_FIRST_UNKNOWN)
        posted_never = [
            NamedFault(Finding.UNKNOWN, row["key"], f"{place_of(row)} at {row['partition']}:{row['offset']}")
            for row in rows
        ]
        return posted_never + self._unreadable

    async def doubled(self) -> list[NamedFault]:
        rows = await self._connection.fetch(_DOUBLED, timeout=LONG_S)
        return [
            NamedFault(Finding.DOUBLED, row["claimed"], f"told of as {row['one']} and as {row['another']}")
            for row in rows
        ]
