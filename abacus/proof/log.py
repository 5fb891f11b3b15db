"""The log, followed along its chain, with the seals and erasures that vouch for it."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC
from functools import partial
from itertools import groupby
from typing import Final

from abacus.people.decide.log_chain import LogFollower, erased_digest
from abacus.people.store.chain import BATCH, COLUMNS, chain_next, chained_of, log_head
from abacus.people.types.deed import Deed, LogHead
from abacus.platform.following.leader import Leader
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Connection, Pool, pages
from abacus.platform.sql import Statement
from abacus.proof.decide.report import HouseFault, Of, Report
from abacus.proof.parts import Log

ENTRIES_A_PART: Final = 100_000

_fault: Final = partial(HouseFault, Of.LOG)

_LAST: Final = "select coalesce(max(number), 0) from audit_log"
_ONE: Final = Statement(f"select {COLUMNS} from audit_log where number = :number")
_FROM: Final = Statement(f"select {COLUMNS} from audit_log where number >= :first and number < :beyond order by number")
_END: Final = "select number, hash from audit_log where number is not null order by number desc limit 1"

_SEALED: Final = """
select s.number, s.log_entries, s.log_head, l.hash from seal s left join audit_log l on l.number = s.log_entries
where s.log_entries > 0 and l.hash is distinct from s.log_head order by s.number
"""
_WAITING: Final = """
select count(*) as entries, min(at) as since from audit_log
where number is null and at < now() - interval '1 hour' having count(*) > 0
"""

# The names that erasures have taken out, and what the entries of the erasures say was left.
_ERASED: Final = f"select {COLUMNS} from audit_log where salt is null order by subject, number"
_ERASURES: Final = f"select subject, details ->> 'left' from audit_log where deed = '{Deed.ERASE}'"


async def parts_of_log(connection: Connection) -> list[Log]:
    last = await connection.fetchval(_LAST)
    return [Log(first, first + ENTRIES_A_PART) for first in range(1, max(1, last) + 1, ENTRIES_A_PART)]


async def check_chain(connection: Connection, part: Log) -> Report:
    """The faults of these entries, beside each other and the entry before the first."""
    report = Report()
    before = await connection.fetchrow(*_ONE(number=part.first - 1))
    follower = LogFollower(chained_of(before) if before else None)
    if before is None:
        follower.number = part.first - 1
    async for page in pages(connection, *_FROM(first=part.first, beyond=part.beyond)):
        for row in map(chained_of, page):
            report.note(*(_fault(row.number or 0, fault) for fault in follower.follow(row)))
    return report


async def check_ends(connection: Connection) -> Report:
    """The faults of the chain's end, of what seals have of it, and of names that were taken out."""
    report = Report()
    head, last = await log_head(connection), await connection.fetchrow(_END)
    ends = LogHead(*last) if last is not None else LogHead()
    if ends.entries != head.entries:
        report.note(_fault(head.entries, f"the log ended with it, and ends with #{ends.entries}"))
    elif ends != head:
        report.note(_fault(head.entries, "its hash is not that of the log's end"))
    for number, entries, recorded, hash_ in await connection.fetch(_SEALED):
        now = "nothing" if hash_ is None else hash_.hex()
        ended = f"its log of {entries} entries ends with {recorded.hex()}, the log has {now} there"
        report.note(HouseFault(Of.SEAL, number, ended))
    for entries, since in await connection.fetch(_WAITING):
        since_then = f"{entries} entries since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC are in no chain"
        report.note(_fault(0, f"{since_then}: a relay puts them there"))
    report.note(*await _erased(connection))
    return report


async def _erased(connection: Connection) -> Sequence[HouseFault]:
    """The entries whose names no erasure has taken out so."""
    left: dict[str, set[str | None]] = defaultdict(set)
    for subject, digest in await connection.fetch(_ERASURES):
        left[subject].add(digest)
    faults: list[HouseFault] = []
    erased = [chained_of(row) for row in await connection.fetch(_ERASED)]
    for subject, rows in groupby(erased, key=lambda each: each.entry.subject):
        of_subject = list(rows)
        if erased_digest(of_subject) not in left[subject]:
            what = "its name and details were replaced, and no erasure in the log has left it so"
            faults += [_fault(each.number or 0, what) for each in of_subject]
    return faults


_IDLE_S: Final = 2.0  # who tampers with an entry before it has its place is not found by the chain
_LEASE: Final = "abacus log"


def log_keeper(pool: Pool, health: WorkerHealth) -> Leader:
    """Gives entries their places, a batch at a time."""
    return Leader(pool, _LEASE, chain_next, health, idle_s=_IDLE_S, enough=BATCH)
