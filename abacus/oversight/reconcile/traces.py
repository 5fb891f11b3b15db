"""The traces that messages have left in the ledger and the quarantine: looked up by key, in batches."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.oversight.reconcile.decide.entry import Entry
from abacus.oversight.reconcile.decide.verdict import OTHER, SAME
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.quarantine.store import HELD
from abacus.platform.sql import Statement, array, column
from abacus.proof.examine import CLAIMED_TOO

CLOCKS_DIFFER_BY: Final = timedelta(minutes=1)

# A transaction that a partner has sent is posted under the partner's key, and claimed under its own.
_POSTED: Final = Statement(f"""
select c.key, c.fingerprint, t.points, t.posted_at, t.key <> c.key as by_partner
from claim c join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq
    and c.key in (t.key, {CLAIMED_TOO})
where c.key = any({array("keys", "text")})
""")
_HELD: Final = Statement(f"""
select id, reason from quarantine where id = any({array("ids", "text")}) and status = '{HELD}'
""")
_HELD_AWARDS: Final = Statement(f"""
select key, fingerprint, reason from quarantine where key = any({array("keys", "text")}) and status = '{HELD}'
""")


class Trace(NamedTuple):
    """The trace of one message."""

    posted: str | None = None
    points: int | None = None
    posted_before: bool = False
    held: str | None = None


class _Transfer(NamedTuple):
    key: str
    fingerprint: str
    points: int
    posted_at: datetime
    by_partner: bool


async def traces_of(connection: Connection, entries: Sequence[Entry]) -> list[Trace]:
    keys = {entry.key for entry in entries if entry.key is not None}
    rows = await slices.rows_on(connection, _POSTED(keys=column(keys)))
    posted = {each.key: each for each in (_Transfer(*row) for row in rows)}
    left = [entry for entry in entries if entry.key not in posted or not _is_same(entry, posted[entry.key])]
    ids, keys = column(entry.item for entry in left), {entry.key for entry in left if entry.key is not None}
    held = {row["id"]: row["reason"] for row in await connection.fetch(*_HELD(ids=ids))}
    awards = {
        (row["key"], row["fingerprint"]): row["reason"]
        for row in await connection.fetch(*_HELD_AWARDS(keys=column(keys)))
    }
    return [_trace(entry, posted.get(entry.key or ""), _held(entry, held, awards)) for entry in entries]


def _trace(entry: Entry, posted: _Transfer | None, held: str | None) -> Trace:
    if posted is None:
        return Trace(held=held)
    if not _is_same(entry, posted):
        return Trace(OTHER, held=held)
    before = posted.by_partner or posted.posted_at < entry.stamped_at - CLOCKS_DIFFER_BY
    return Trace(SAME, posted.points, before)


def _is_same(entry: Entry, posted: _Transfer) -> bool:
    return entry.fingerprint is None or entry.fingerprint == posted.fingerprint


def _held(entry: Entry, items: dict[str, str], awards: dict[tuple[str, str | None], str]) -> str | None:
    """The reason, if the quarantine holds the message itself or the award that it came to."""
    reason = items.get(entry.item)
    if reason is None and entry.key is not None:
        reason = awards.get((entry.key, entry.fingerprint))
    return reason
