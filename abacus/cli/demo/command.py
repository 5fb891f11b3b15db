"""`abacus demo`: a stream of transactions through the whole pipeline, and its outcome."""

import asyncio
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

from abacus.cli.demo.afterwards import (
    comes_out,
    end_the_month,
    until_all_is_counted,
    until_eve_has_risen,
    until_everybody_is_told,
)
from abacus.cli.demo.campaigns import done_so_far, play_events, start_campaigns, until_all_is_done
from abacus.cli.demo.counters import publish_counters, shown_counts
from abacus.cli.demo.documents import export_documents
from abacus.cli.demo.history import tell_story
from abacus.cli.demo.journeys import Bakery
from abacus.cli.demo.neighbourhood import placed
from abacus.cli.demo.offers import sold
from abacus.cli.demo.pending import publish_vesting_card, purchases, refund
from abacus.cli.demo.series import added_up
from abacus.cli.demo.story.opening import PARTITIONS
from abacus.cli.demo.stream import Counts, play
from abacus.cli.demo.summary import Summary, show
from abacus.cli.demo.taken import taken_since
from abacus.cli.demo.visit import check_host, visit
from abacus.cli.examples.stream import BOB, EVE, EVE_AGAIN, JANE, NAMED, TIERS, award_key, sent, stream
from abacus.cli.house.free_ports import on_free_ports
from abacus.cli.house.stack import MANY_PARTITIONS, make_ready, running, services
from abacus.cli.house.start_progress import StartProgress
from abacus.cli.ledger.explain import explained
from abacus.cli.terminal.answer import EXIT_FAILED, AsJson, print_json
from abacus.cli.terminal.shell import database, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, Refused
from abacus.core.sources import login_source
from abacus.engage.notify.channels import log as log_channel
from abacus.ledger.store.read import LedgerReader
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.deed import Deed
from abacus.platform.patience import unless_stopped
from abacus.platform.postgres import Pool, nothing_else
from abacus.platform.settings import Settings
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.process import stopped_by_signals
from abacus.programs.tiers.store import MembershipStore
from abacus.programs.tiers.tier_proof import Tiers
from abacus.proof.decide.recompute import recompute
from abacus.proof.verify import verify
from workers import FOLLOWERS, PIPELINE

_KEPT_WHOLE: Final = 100_000  # of a longer stream the embedded broker forgets the beginning
_USUALLY: Final = 2000  # transactions
_GATHER_S: Final = 1.0  # for the notices of one member: the demo does not last long


async def demo(
    transactions: Annotated[
        int | None,
        typer.Option(min=2, max=10_000_000, help="How many to send, beside Bob's and Jane's.", show_default="2000"),
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Keep the ledger here; else it is thrown away at the end.")
    ] = None,
    stays: Annotated[
        bool, typer.Option("--console", help="Tell six months of history instead, and leave its console open.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Send a reproducible stream through every worker, count the outcomes, and verify the ledger."""
    if stays and transactions is not None:
        raise Refused("--transactions: with --console six months are told, whose transactions are always the same")
    stop = asyncio.Event()
    with stopped_by_signals(stop), _kept_or_thrown_away(data_dir) as directory:
        config = settings()
        if stays:
            on_free_ports(config)
            check_host(config)
        logging.getLogger(log_channel.__name__).setLevel(logging.WARNING)  # hundreds of lines, one for each member
        starting, is_ours = StartProgress(quiet=as_json), config.database_url is None
        opened = services(config, directory, starting, partitions=PARTITIONS if stays else MANY_PARTITIONS)
        async with opened as complete:
            play_it = (
                tell_story(complete, starting, as_json=as_json, is_ours=is_ours)
                if stays
                else _play(complete, transactions or _USUALLY, starting, as_json=as_json, is_ours=is_ours)
            )
            playing = asyncio.ensure_future(play_it)
            stopping = asyncio.ensure_future(stop.wait())
            await asyncio.wait((playing, stopping), return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if not playing.done():
                playing.cancel()
                await asyncio.wait((playing,))
                raise Refused("stopped before the end")
            playing.result()
            if stays:
                await unless_stopped(visit(complete, starting, as_json=as_json), stop)


@contextmanager
def _kept_or_thrown_away(data_dir: Path | None) -> Iterator[Path]:
    if data_dir is not None:
        yield data_dir
        return
    with tempfile.TemporaryDirectory(prefix="abacus-demo-") as directory:
        yield Path(directory)


async def _play(
    complete: Settings, transactions: int, starting: StartProgress, *, as_json: bool, is_ours: bool
) -> None:
    starting.tell("preparing the schema, the queues and the rate cards")
    await make_ready(complete, is_ours=is_ours)
    async with database(complete) as pool:
        await publish_vesting_card(pool)
    clock, is_kept_whole = SystemClock(), transactions <= _KEPT_WHOLE
    async with database(complete) as pool, running(PIPELINE, complete, starting) as workers:
        began, counts = clock.now(), Counts(complete.transactions_topic)
        memberships = MembershipStore(pool, clock)
        for member, program, tier in TIERS:
            told = {"did": "set", "program": program, "tier": tier, "reason": "demo"}
            by, about = login_source("abacus demo"), f"member:{member}"
            entry = entry_of(by, Deed.SET_TIERS, about, clock.now(), **told)
            also = with_entry(nothing_else, entry)
            await memberships.set((member, program), tier, reason="demo", actor="abacus demo", also=also)
        await publish_counters(complete, pool)
        counted_before = await shown_counts(complete, pool)
        messages = transactions - len((EVE, EVE_AGAIN))
        starting.tell(f"sending {transactions:,} transactions through them")
        played = await play(complete, pool, workers, stream(messages), messages + NAMED, counts, quiet=as_json)
        # The stream is through before tiers move: so its points are the same each time.
        followed = complete.model_copy(update={"notify_gather_seconds": _GATHER_S})
        async with running((*FOLLOWERS, "counter"), followed, starting):
            await until_eve_has_risen(pool)
            *_, dinner = later = [EVE_AGAIN, *purchases(clock.now())]
            await play(complete, pool, workers, map(sent, later), len(later), counts, quiet=True)
            later.append(refund(dinner, clock.now()))
            await play(complete, pool, workers, map(sent, later[-1:]), 1, counts, quiet=True)
            await end_the_month(complete, pool)
            await until_everybody_is_told(pool, began)
            if is_kept_whole:
                await until_all_is_counted(counts, messages + NAMED + len(later))
            figures = counts.now()
            engaged = await _engage(complete, followed, pool, starting)
            reconciled = await comes_out(complete, pool, began) if is_kept_whole else None
        starting.tell("exporting every document, as files that `abacus apply` publishes elsewhere")
        documents = await export_documents(pool)
        book = CardBook(await CardStore(pool).all())
        starting.tell("verifying the ledger")
        report = await verify(pool, lambda transfer: recompute(transfer, book), beside=[Tiers(book)])
        summary = Summary(
            transactions=messages + NAMED + len(later),
            awarded=figures["award_posted"],
            points=figures["points"],
            duplicates=figures["award_duplicate"],
            retried=figures["deferred"],
            quarantined=figures["quarantined"],
            elapsed_s=round(played.seconds, 3),
            transactions_per_s=round((messages + NAMED) / played.seconds, 1),
            points_per_s=round(figures["points"] / played.seconds, 1),
            p50_ms=played.percentile_ms(0.50),
            p99_ms=played.percentile_ms(0.99),
            expired_members=figures["expired_members"],
            expired_points=figures["expired_points"],
            tier_changes=figures["tier_changes"],
            notifications=figures["notifications"],
            counters=_since(counted_before, await shown_counts(complete, pool)) if is_kept_whole else None,
            campaigns=engaged.campaigns,
            journeys=engaged.journeys,
            series=engaged.series,
            places=await placed(pool),
            **(await taken_since(pool, began, clock.now()))._asdict(),
            documents=documents,
            ledger_verified=report.clean,
            reconciled=reconciled,
        )
        reasons = {str(reason): figures[str(reason)] for reason in Reason if figures[str(reason)]}
        explanations = [*await _explain(pool, book, later), *engaged.sales]
    if as_json:
        print_json(asdict(summary))
    else:
        show(summary, "Abacus demo", reasons, explanations)
    if summary.is_at_fault:
        raise typer.Exit(EXIT_FAILED)


class _Engaged(NamedTuple):
    """What campaigns and journeys did, by their names; what series add up to; and what was sold."""

    campaigns: Mapping[str, Mapping[str, int]]
    journeys: Mapping[str, Mapping[str, int]]
    series: Mapping[str, int]
    sales: Sequence[str]


async def _engage(complete: Settings, followed: Settings, pool: Pool, starting: StartProgress) -> _Engaged:
    starting.tell("running five campaigns and three journeys over the events of an app and of a bakery")
    since, campaigns = SystemClock().now(), await start_campaigns(complete, pool)
    first, before = campaigns[0].name, await done_so_far(pool, campaigns)
    bakery = Bakery(complete, pool)
    await bakery.open()
    async with running(("campaigner", "journeyer"), followed, starting):
        await play_events(complete)
        journeyed = await bakery.serve()
        campaigned = await until_all_is_done(pool, campaigns)
        starting.tell("asking for series, showing the best offers, and what points buy")
        points = first, campaigned[first]["points"] - before[first]["points"]
        series = await added_up(complete, pool, since, points, journeyed)
        return _Engaged(campaigned, journeyed, series, await sold(complete, pool, starting))


def _since(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    return {key: count - before[key] for key, count in now.items()}


async def _explain(pool: Pool, book: CardBook, later: Sequence[Mapping[str, Any]]) -> list[str]:
    """Explain awards of Bob and Jane, and of Eve before she rose, and later ones, as they stand in the ledger."""
    reader, lines = LedgerReader(pool), list[str]()
    for transaction in (BOB, JANE, EVE, *later):
        claim = await reader.claim(award_key(transaction))
        transfer = await reader.transfer(claim) if claim else None
        if transfer is not None:
            lines += explained(transfer, recompute(transfer, book))
    return lines
