"""Proving a ledger: verified by a process for each core, sealed, and one account of it proven.

The ledger is written by the same plain functions that post to it, with amounts, tiers and payment types of every kind,
and copied in. Postgres shares the cores with the processes that verify.
"""

import multiprocessing
import os
import random
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.sources import STREAM
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.port import Claim
from abacus.ledger.types.transfer import Transfer
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.deed import Deed
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import Pool, nothing_else, open_pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.formula import rate_of, worth
from abacus.pricing.store.cards import CardStore
from abacus.programs.tiers.decide.heard import heard_from
from abacus.programs.tiers.decide.tier_change import AccountTier, Calendars, Known, count
from abacus.programs.tiers.tier_proof import Tiers
from abacus.proof.beside import Beside
from abacus.proof.decide.recheck import Recheck
from abacus.proof.decide.report import Report
from abacus.proof.parts import EVERYBODY, Span
from abacus.proof.processes import Helpers
from abacus.proof.store import Seals
from abacus.proof.verify import verify
from benchmarks.report import Figure, rate

TRANSFERS: Final = 5  # of each account
WANTED: Final = 50_000
AT_ONCE: Final = 10_000  # accounts copied in one go
ALONE: Final = 5  # one process verifies a fifth, to compare

# Each account's way to its tier, as one change.
_CHANGES: Final = """
    with changed as (
        update account_tier set changes = 1 where tier <> 'member' returning member_id, program, country, tier
    )
    insert into tier_change (member_id, program, n, country, from_tier, to_tier, reason, changed_at)
    select member_id, program, 1, country, 'member', tier, 'upgrade', now() from changed
"""

_NOW: Final = datetime(2026, 5, 1, tzinfo=UTC)


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        owner = await open_pool(url, size=2, role=None)
        try:
            return await _measure(owner, url, accounts)
        finally:
            await owner.close()


async def _measure(owner: Pool, url: str, accounts: int) -> list[Figure]:
    book = await fill(owner, accounts)
    recheck, beside = Recheck(book), [Tiers(book)]
    seals = Seals(owner, SystemClock())
    began = time.monotonic()
    seal = (await seals.make()).seal
    sealing = time.monotonic() - began
    began = time.monotonic()
    await seals.prove((member(accounts // 2), "GRP"))
    proving = time.monotonic() - began
    alone = await _timed(owner, recheck, beside, None, Span("", member(accounts // ALONE)))
    processes = os.cpu_count() or 1
    with Helpers(url, processes) as helpers:
        await _timed(owner, recheck, beside, helpers, Span("", member(1)))  # until they have started
        before = await _cpu(owner)
        together = await _timed(owner, recheck, beside, helpers, EVERYBODY)
        cpu = (await _cpu(owner) - before) / together.report.transfers
    is_clean = together.report.clean and together.report.transfers == accounts * TRANSFERS
    return [
        Figure(
            f"verify, {together.report.transfers:,} transfers of {accounts:,} accounts and a seal,"
            f" {processes} processes",
            rate(together.per_s, "transfers"),
            f"{together.per_s / alone.per_s:.1f} times one process",
            f">= {WANTED:,}/s",
            together.per_s >= WANTED and is_clean,
        ),
        Figure(
            "CPU of a verified transfer, its share of the keys and of the seal included, Postgres' with it",
            f"{cpu * 1e6:.1f} µs",
            f"{processes / cpu:,.0f}/s if all {processes} cores were its own",
            f"<= {processes / WANTED * 1e6:.0f} µs",
            cpu <= processes / WANTED,
        ),
        Figure("a seal", rate(accounts / sealing, "accounts"), f"{seal.accounts:,} in {sealing:.1f} s"),
        Figure("a proof of an account", rate(accounts / proving, "accounts"), f"{accounts:,} in {proving:.1f} s"),
    ]


class Timed(NamedTuple):
    """The result of verifying, and its speed."""

    report: Report
    per_s: float


async def _timed(owner: Pool, recheck: Recheck, beside: Sequence[Beside], helpers: Helpers | None, span: Span) -> Timed:
    began = time.monotonic()
    report = await verify(owner, recheck, span=span, helpers=helpers, beside=beside)
    return Timed(report, report.transfers / (time.monotonic() - began))


async def _cpu(owner: Pool) -> float:
    """CPU seconds so far of the helpers, and of the connections to Postgres that have ended: those of helpers end
    with each part. Other processes of the machine do not count.
    """
    postmaster = int((await owner.fetchval("select pg_read_file('postmaster.pid')")).split()[0])
    ended = sum(psutil.Process(postmaster).cpu_times()[2:4])
    return ended + sum(sum(psutil.Process(child.pid).cpu_times()[:2]) for child in multiprocessing.active_children())


def member(number: int) -> str:
    return f"m{number:08}"


async def fill(owner: Pool, accounts: int) -> CardBook:
    """Write cards, accounts, transfers and claims as posting would leave them, but for the order on disk: as after
    posting, the transfers of an account lie far from each other.
    """
    store = CardStore(owner)
    for card in example_cards():
        entry = entry_of("login:benchmark", Deed.PUBLISH_RATES, f"card:{card.scope}", _NOW)
        published_at = _NOW - timedelta(days=1)  # so that it is certain by which card points count for tiers
        await store.publish(card, by="benchmark", now=published_at, also=with_entry(nothing_else, entry))
    book = CardBook(await store.all())
    held: dict[int, Account] = {number: Account.opened((member(number), "GRP"), "SG") for number in range(accounts)}
    tiers = {number: Known(AccountTier.opened((member(number), "GRP")), {}, None) for number in range(accounts)}
    calendars = Calendars(book, {})
    chance = random.Random(1)
    awards = _awards(book, chance)
    for _ in range(TRANSFERS):
        for start in range(0, accounts, AT_ONCE):
            posted: list[Transfer] = []
            claims: list[Claim] = []
            for number in chance.sample(range(start, min(start + AT_ONCE, accounts)), min(AT_ONCE, accounts - start)):
                award = next(awards)._replace(member_id=held[number].member_id)
                held[number], transfer = apply(held[number], award, _NOW)
                tiers[number] = _counted(tiers[number], transfer, calendars)
                posted.append(transfer)
                claims.append(Claim(award.key, award.member_id, award.program, transfer.seq, award.fingerprint))
            await owner.copy_records_to_table("transfer", records=posted, columns=Transfer._fields)
            await owner.copy_records_to_table("claim", records=claims, columns=Claim._fields)
    await owner.copy_records_to_table("account", records=held.values(), columns=Account._fields)
    tallies = [
        (*each.account.id, *tally.period, tally.earned, *tally.reached)
        for each in tiers.values()
        for tally in each.tallies.values()
    ]
    rows = [each.account._replace(changes=0) for each in tiers.values()]
    await owner.copy_records_to_table("account_tier", records=rows, columns=AccountTier._fields)
    await owner.copy_records_to_table("tier_tally", records=tallies)
    await owner.execute(_CHANGES)
    for table in ("account", "transfer", "claim", "account_tier", "tier_tally"):
        await owner.execute(f"vacuum analyze {table}", timeout=600)
    return book


def _counted(known: Known, transfer: Transfer, calendars: Calendars) -> Known:
    heard = heard_from(transfer)
    return known if heard is None else count(known, heard, calendars, _NOW)[0]


def _awards(book: CardBook, chance: random.Random) -> Iterator[Award]:
    published = book.in_force("SG", _NOW)
    card = published.card
    kinds = [(v, p, t) for v in card.verticals for p in card.payment_types for t in card.tiers]
    rates = [rate_of(published, *kind) for kind in kinds]
    activity, number = True, 0
    while True:
        number += 1
        points, explanation = worth(f"{chance.randrange(100, 20_000) / 100:.2f}", chance.choice(rates))
        yield Award(
            f"txn:rides:T-{number:09}",
            "",
            "GRP",
            "SG",
            TransferKind.EARN,
            points,
            _NOW + timedelta(seconds=number),
            date(2026, 11, 30),
            activity,
            f"{number:032x}",
            explanation,
            STREAM,
        )
