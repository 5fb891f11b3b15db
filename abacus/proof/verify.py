"""Proving the ledger from its own rows: sequences, balances, hash chains, keys, explanations, seals. In little memory.

The ledger is cut into parts of about a hundred thousand transfers, which one connection examines one after the other,
or several processes at once. All look at one snapshot, so posting may go on meanwhile.
"""

import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol

from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.proof.decide.account_chain import Recompute
from abacus.proof.decide.report import MOST_FAULTS, Fault, Report, SealFault
from abacus.proof.decide.seal import Seal, follow_seals
from abacus.proof.examine import (
    CLAIMED_AS,
    EVERYBODY,
    Findings,
    Keys,
    Members,
    Part,
    Root,
    Span,
    examine,
    use_examining_plans,
)
from abacus.proof.store import all_seals

_TRANSFERS_A_PART: Final = 100_000
_MOST_PARTS: Final = 4096
_PAGES_A_PART: Final = 32_768
_PAGES_SAMPLED: Final = 1000
_A_DAY_S: Final = 86_400  # a search for odd keys has nobody waiting for it but the one who verifies

_SIZES: Final = """
select (select greatest(reltuples, 0)::bigint from pg_class where oid = 'transfer'::regclass),
    pg_relation_size('claim') / current_setting('block_size')::int,
    pg_relation_size('account') / current_setting('block_size')::int
"""

_WITHOUT_CLAIM: Final = f"""
select t.member_id, t.program, t.seq, t.key from transfer t
left join claim c on c.key = {CLAIMED_AS} and c.member_id = t.member_id and c.program = t.program and c.seq = t.seq
where %s and c.key is null
limit {MOST_FAULTS}
"""

_WITHOUT_TRANSFER: Final = f"""
select c.member_id, c.program, c.seq, c.key from claim c
left join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq and c.key = {CLAIMED_AS}
where %s and t.key is null
limit {MOST_FAULTS}
"""

# How many transfers are verified, and about how many there are; 0 when nobody knows.
TransfersChecked = Callable[[int, int], None]


class Helping(Protocol):
    """Others who examine."""

    def examine(self, snapshot: str, parts: Sequence[Part], recompute: Recompute, seed: int) -> AsyncIterator[Findings]:
        """What they find in each part, as it is done. Raises `Unavailable`."""
        ...


async def verify(
    pool: Pool,
    recompute: Recompute,
    *,
    span: Span = EVERYBODY,
    seals: int | None = 1,
    helpers: Helping | None = None,
    progress: TransfersChecked = lambda _done, _expected: None,
) -> Report:
    """Check everything, with the roots of the last `seals` or of all; or some members. Raises `Unavailable`."""
    async with (
        passing_failures(),
        pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        snapshot = await connection.fetchval("select pg_export_snapshot()")
        await use_examining_plans(connection)
        sealed = await all_seals(connection) if span == EVERYBODY else []
        chosen = sealed if seals is None else sealed[len(sealed) - min(seals, len(sealed)) :]
        expected, parts = await _parts(connection, span, chosen)
        seed, found = secrets.randbits(63), Findings()
        if helpers is None:
            examining = _examine_here(connection, parts, recompute, seed)
        else:
            examining = helpers.examine(snapshot, parts, recompute, seed)
        async for part in examining:
            found.add(part)
            progress(found.report.transfers, expected)
        if not found.keys_match:
            await _find_odd_keys(connection, found.report, span)
        found.report.found(*follow_seals(sealed))
    found.report.faults.sort(key=_by_account)
    return found.report


async def verify_accounts(connection: Connection, recompute: Recompute, member_id: str) -> Report:
    """Check one member within the caller's transaction, by key alone: a claim without a transfer is not looked for."""
    span = Span(member_id, member_id)
    found = await examine(connection, Members(span), recompute, seed=0)
    for row in await connection.fetch(_WITHOUT_CLAIM % span.where("t"), *span.parameters):
        found.report.found(Fault(row[0], row[1], row[2], f"its key {row[3]} is not claimed for it"))
    return found.report


def _by_account(fault: Fault | SealFault) -> tuple[str, ...]:
    """Seals last: what a row says tells more. Those of an account stay as they were found."""
    return ("seal",) if isinstance(fault, SealFault) else ("account", fault.member_id, fault.program)


async def _examine_here(
    connection: Connection, parts: Sequence[Part], recompute: Recompute, seed: int
) -> AsyncIterator[Findings]:
    for part in parts:
        yield await examine(connection, part, recompute, seed)


async def _parts(connection: Connection, span: Span, seals: Sequence[Seal]) -> tuple[int, list[Part]]:
    """About how many transfers there are, and the parts: those that take the longest first."""
    transfers, key_pages, account_pages = await connection.fetchrow(_SIZES)
    parts: list[Part] = [Root(seal) for seal in seals]
    parts += [Keys(span, first, min(first + _PAGES_A_PART, key_pages)) for first in range(0, key_pages, _PAGES_A_PART)]
    shares = min(_MOST_PARTS, transfers // _TRANSFERS_A_PART)
    first = span.first
    for cut in await _cuts(connection, span, shares, account_pages):
        parts.append(Members(Span(first, cut)))
        first = cut + "\x01"  # what comes next, as no text holds a NUL
    parts.append(Members(Span(first, span.last)))
    return transfers if span == EVERYBODY else 0, parts


async def _cuts(connection: Connection, span: Span, shares: int, account_pages: int) -> list[str]:
    """Members that divide a sample of the accounts into equal shares."""
    if shares <= 1 or span.first == span.last:
        return []
    percent = 100.0 * min(1.0, _PAGES_SAMPLED / max(1, account_pages))
    place = len(span.parameters)
    query = f"""
        select distinct unnest(percentile_disc(${place + 1}::float8[]) within group (order by a.member_id)) as cut
        from account a tablesample system (${place + 2}) where {span.where("a")} order by cut
    """
    points = [share / shares for share in range(1, shares)]
    return [row[0] for row in await connection.fetch(query, *span.parameters, points, percent) if row[0] is not None]


async def _find_odd_keys(connection: Connection, report: Report, span: Span) -> None:
    """The keys do not match the transfers: find which. This needs memory and time, which a sound ledger never does."""
    for setting in ("enable_sort", "enable_hashjoin", "enable_mergejoin"):
        await connection.execute(f"set local {setting} = on")
    for statement, table, what in (
        (_WITHOUT_CLAIM, "t", "its key {} is not claimed for it"),
        (_WITHOUT_TRANSFER, "c", "the key {} is claimed for a transfer that is not there"),
    ):
        for row in await connection.fetch(statement % span.where(table), *span.parameters, timeout=_A_DAY_S):
            report.found(Fault(row[0], row[1], row[2], what.format(row[3])))
