"""Proving the ledger from its own rows: sequences, balances, hash chains, keys, explanations, seals; holds, allowances,
approvals. In little memory.

The ledger is cut into parts of about a hundred thousand transfers, which one connection examines one after the other,
or several processes at once. All look at one snapshot, so posting may go on meanwhile.
"""

import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, Protocol

from abacus.platform.cluster.placement import having_rows
from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices import CUT
from abacus.platform.sql import Statement, columns
from abacus.proof.beside import Beside, By
from abacus.proof.decide.account_chain import Recompute
from abacus.proof.decide.report import MOST_FAULTS, Fault, Report
from abacus.proof.decide.seal import Seal, Sealed, follow_seals
from abacus.proof.examine import CLAIMED_AS, CLAIMED_TOO, examine, use_examining_plans
from abacus.proof.log import parts_of_log
from abacus.proof.partners import compare_allowances
from abacus.proof.parts import EVERYBODY, Findings, Generations, House, Keys, Members, Part, Places, Root, Span
from abacus.proof.sight import Sight, at_once, one_moment
from abacus.proof.store import all_seals, sealed_slices

_MOST_PARTS: Final = 4096
_PAGES_FOR_HELPERS: Final = 1024  # some 80,000 transfers: one process verifies them while others would still start
_PAGES_SAMPLED: Final = 1000
_A_DAY_S: Final = 86_400  # only the person who verifies waits for a search for odd keys


class _Sizes(NamedTuple):
    """About how many transfers there are in a slice, and how many pages its accounts have, and the keys of each
    generation.
    """

    transfers: int
    account_pages: int
    key_pages: Mapping[int, int]

    @property
    def all_key_pages(self) -> int:
        return sum(self.key_pages.values())


_GENERATIONS: Final = "select number from generation order by number"
_ROWS_AND_PAGES: Final = Statement("""
select (select greatest(reltuples, 0)::bigint from pg_class where oid = :transfer::text::regclass) as transfers,
    pg_relation_size(:claim::text::regclass) / current_setting('block_size')::int as key_pages
""")
_PAGES: Final = Statement("select pg_relation_size(:name::text::regclass) / current_setting('block_size')::int")


class _OddKey(NamedTuple):
    """A transfer without its claim, or a claim without its transfer."""

    member_id: str
    program: str
    seq: int
    key: str

    def fault(self, detail: str) -> Fault:
        return Fault(self.member_id, self.program, self.seq, detail.format(self.key))


_NOT_CLAIMED: Final = "its key {} is not claimed for it"
_WITHOUT_CLAIM: Final = f"""
select t.member_id, t.program, t.seq, k.key from transfer t
cross join lateral (values ({CLAIMED_AS}), ({CLAIMED_TOO})) as k (key)
left join claim c on c.key = k.key and c.member_id = t.member_id and c.program = t.program and c.seq = t.seq
where %s and k.key is not null and c.key is null
limit {MOST_FAULTS}
"""

_WITHOUT_TRANSFER: Final = f"""
select {columns(_OddKey, "c")} from claim c
left join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq
    and c.key in ({CLAIMED_AS}, {CLAIMED_TOO})
where %s and t.key is null
limit {MOST_FAULTS}
"""

# How many transfers are verified, and about how many there are; 0 when that is not known.
TransfersChecked = Callable[[int, int], None]


class Helping(Protocol):
    """Processes that examine parts."""

    def examine(self, snapshots: Mapping[str, str], parts: Sequence[Part], by: By) -> AsyncIterator[Findings]:
        """The findings in each part, as it is done. Raises `Unavailable`."""
        ...


class PartSize(NamedTuple):
    """How much a process examines at a time."""

    transfers: int = 100_000
    pages: int = 32_768  # of keys


_LARGE: Final = PartSize()


async def is_worth_helping(pool: Pool, from_pages: int = _PAGES_FOR_HELPERS) -> bool:
    """Whether the ledger is so large that several processes verify it sooner than one. Raises `Unavailable`."""
    async with one_moment(pool) as sight:
        return sum([(await _sizes(sight, number)).all_key_pages for number in sight.numbers]) >= from_pages


async def verify(
    pool: Pool,
    recompute: Recompute,
    *,
    span: Span = EVERYBODY,
    seals: int | None = 1,
    helpers: Helping | None = None,
    part_size: PartSize = _LARGE,
    beside: Sequence[Beside] = (),
    progress: TransfersChecked = lambda _done, _expected: None,
) -> Report:
    """Check everything, with the roots of the last `seals` or of all; or some members. `beside` are rows of other rooms
    that follow from transfers. Raises `Unavailable`.
    """
    async with one_moment(pool) as sight:
        await use_examining_plans(sight)
        sealed = await all_seals(sight.shared) if span == EVERYBODY else []
        chosen = sealed if seals is None else sealed[len(sealed) - min(seals, len(sealed)) :]
        slices = await sealed_slices(sight.shared, chosen)
        expected, parts = await _parts(sight, span, [seal for seal in chosen if seal.is_known], slices, part_size)
        by, findings = By(recompute, secrets.randbits(63), beside), Findings()
        by_helpers = helpers and helpers.examine(sight.snapshots, parts, by)
        async for part in by_helpers or _examine_here(sight, parts, by):
            findings.add(part)
            progress(findings.report.transfers, expected)
        if not findings.keys_match:
            await _find_odd_keys(sight, findings.report, span)
        if span == EVERYBODY:
            await compare_allowances(sight, findings)
        findings.report.note(*chain.from_iterable(seal.compared_with(slices[seal.number]) for seal in chosen))
        findings.report.note(*follow_seals(sealed))
    findings.report.faults.sort(key=lambda fault: fault.place)  # faults of one place keep their order
    return findings.report


async def verify_accounts(connection: Connection, recompute: Recompute, member_id: str) -> Report:
    """Check one member within the caller's transaction, by key alone: a claim without a transfer is not looked for, nor
    what partners asked for, which an erasure renames apart. The connection has the tables of the member's slice.
    """
    span = Span(member_id, member_id)
    findings = await examine(at_once(connection), Members(span, 0), By(recompute, 0, asked=False))
    without_claim = Statement(_WITHOUT_CLAIM % span.where("t"))
    for row in await connection.fetch(*without_claim(**span.parameters)):
        findings.report.note(_OddKey(*row).fault(_NOT_CLAIMED))
    return findings.report


async def _examine_here(sight: Sight, parts: Sequence[Part], by: By) -> AsyncIterator[Findings]:
    for part in parts:
        yield await examine(sight, part, by)


async def _sizes(sight: Sight, number: int) -> _Sizes:
    """Of a slice, by the tables that have its rows themselves."""
    ledger = await sight.ledger(number)
    accounts = (await having_rows(ledger, ("account",)))["account"]
    transfers, key_pages = 0, dict[int, int]()
    for generation in [row["number"] for row in await ledger.fetch(_GENERATIONS)]:
        leaves = f"transfer_{generation}", f"claim_{generation}"
        names = await having_rows(ledger, leaves)
        of_it, pages = await ledger.fetchrow(*_ROWS_AND_PAGES(transfer=names[leaves[0]], claim=names[leaves[1]]))
        transfers, key_pages[generation] = transfers + of_it, pages
    return _Sizes(transfers, await ledger.fetchval(*_PAGES(name=accounts)), key_pages)


async def _parts(
    sight: Sight, span: Span, seals: Sequence[Seal], sealed: Mapping[int, Sequence[Sealed]], size: PartSize
) -> tuple[int, list[Part]]:
    """About how many transfers there are, and the parts, the longest first."""
    sizes = [await _sizes(sight, number) for number in sight.numbers]
    transfers, has_several = sum(each.transfers for each in sizes), len(sizes) > 1
    parts: list[Part] = [
        Root(seal, number, of)
        for seal in seals
        for number, (_, of) in enumerate(zip(seal.snapshots, sealed[seal.number], strict=False))
    ]
    if span == EVERYBODY:
        parts += [House(), *await parts_of_log(sight.shared)]
    parts += [
        Keys(span, number, generation, first, min(first + size.pages, pages), has_several)
        for number, each in enumerate(sizes)
        for generation, pages in each.key_pages.items()
        for first in range(0, pages, size.pages)
    ]
    if span == EVERYBODY:
        parts += [Generations(number) for number, each in enumerate(sizes) if len(each.key_pages) > 1]
    if has_several and span == EVERYBODY:
        parts += [Places(number, table) for number in sight.numbers for table in CUT]
    for number, each in enumerate(sizes):
        shares = min(_MOST_PARTS, each.transfers // size.transfers)
        first = span.first
        for cut in await _cuts(sight, number, each, span, shares):
            parts.append(Members(Span(first, cut), number))
            first = cut + "\x01"  # the next text in order, because no text holds a NUL
        parts.append(Members(Span(first, span.last), number))
    return transfers if span == EVERYBODY else 0, parts


async def _cuts(sight: Sight, number: int, sizes: _Sizes, span: Span, shares: int) -> list[str]:
    """Members that divide a sample of a slice's accounts into equal shares."""
    if shares <= 1 or span.first == span.last:
        return []
    ledger = await sight.ledger(number)
    names = await having_rows(ledger, ("account",))
    percent = 100.0 * min(1.0, _PAGES_SAMPLED / max(1, sizes.account_pages))
    query = Statement(f"""
        select distinct unnest(percentile_disc(:shares::float8[]) within group (order by a.member_id)) as cut
        from {names["account"]} a tablesample system (:percent) where {span.where("a")} order by cut
    """)
    fractions = [share / shares for share in range(1, shares)]
    rows = await ledger.fetch(*query(shares=fractions, percent=percent, **span.parameters))
    return [row["cut"] for row in rows if row["cut"] is not None]


async def _find_odd_keys(sight: Sight, report: Report, span: Span) -> None:
    """Find the keys that do not match the transfers. This takes memory and time; a sound ledger never needs it."""
    for number in sight.numbers:
        ledger = await sight.ledger(number)
        for setting in ("enable_sort", "enable_hashjoin", "enable_mergejoin"):
            await ledger.execute(f"set local {setting} = on")
        for text, table, detail in (
            (_WITHOUT_CLAIM, "t", _NOT_CLAIMED),
            (_WITHOUT_TRANSFER, "c", "the key {} is claimed for a transfer that is not there"),
        ):
            odd = Statement(text % span.where(table))
            for row in await ledger.fetch(*odd(**span.parameters), timeout=_A_DAY_S):
                report.note(_OddKey(*row).fault(detail))
