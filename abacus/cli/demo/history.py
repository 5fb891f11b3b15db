"""Six months of history, told in an empty house, verified, and summed up."""

import asyncio
from dataclasses import asdict
from datetime import datetime
from typing import Final

import typer

from abacus.cli.demo.afterwards import comes_out
from abacus.cli.demo.counters import shown_counts
from abacus.cli.demo.documents import export_documents
from abacus.cli.demo.journeys import journeyed
from abacus.cli.demo.neighbourhood import placed
from abacus.cli.demo.series import drawn, of_journeys
from abacus.cli.demo.story.clock import stopped_halfway
from abacus.cli.demo.story.opening import told
from abacus.cli.demo.stream import Counts
from abacus.cli.demo.summary import Summary, show
from abacus.cli.demo.taken import taken_since
from abacus.cli.house.stack import make_ready
from abacus.cli.house.start_progress import StartProgress
from abacus.cli.terminal.answer import EXIT_FAILED, print_json
from abacus.cli.terminal.shell import database
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, Refused
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.report import report as report_of
from abacus.people.store.people import PeopleStore
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.sql import Statement
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.tiers.tier_proof import Tiers
from abacus.proof.decide.recompute import recompute
from abacus.proof.verify import verify

_LATENCIES: Final = Statement("""
select percentile_disc(array[0.5, 0.99]) within group (order by extract(epoch from posted_at - occurred_at) * 1000)
from transfer where kind = 'earn' and starts_with(key, 'txn:') and posted_at >= :since
""")


async def tell_story(complete: Settings, starting: StartProgress, *, as_json: bool, is_ours: bool) -> None:
    starting.tell("preparing the schema and the queues")
    await make_ready(complete, is_ours=is_ours, with_cards=False)
    if await _is_told(complete):
        starting.tell("the story of this house is told already")
        return
    counts = Counts(complete.transactions_topic)
    story = await told(complete, starting, quiet=as_json)
    figures = counts.now()
    async with database(complete) as pool:
        starting.tell("verifying the ledger, accounting for every message, and exporting every document")
        book = CardBook(await CardStore(pool).all())
        verified, reconciled, documents = await asyncio.gather(
            verify(pool, lambda transfer: recompute(transfer, book), beside=[Tiers(book)]),
            comes_out(complete, pool, story.begin),
            export_documents(pool),
        )
        taken = await taken_since(pool, story.begin, SystemClock().now())
        journeys = await journeyed(pool, story.begin)
        middle, late = await _latencies_ms(pool, story.begin)
        summary = Summary(
            transactions=story.sent,
            awarded=story.awarded,
            points=figures["points"],
            duplicates=story.again,
            retried=figures["deferred"],
            quarantined=figures["quarantined"],
            elapsed_s=round(story.seconds, 3),
            transactions_per_s=round(story.sent / story.seconds, 1),
            points_per_s=round(figures["points"] / story.seconds, 1),
            p50_ms=middle,
            p99_ms=late,
            expired_members=figures["expired_members"],
            expired_points=figures["expired_points"],
            tier_changes=figures["tier_changes"],
            notifications=figures["notifications"],
            counters=await shown_counts(complete, pool),
            campaigns=await _campaigned(pool),
            journeys=journeys,
            series=await drawn(complete, pool, story.begin, of_journeys(journeys)),
            places=await placed(pool),
            **taken._asdict(),
            documents=documents,
            ledger_verified=verified.clean,
            reconciled=reconciled,
        )
    reasons = {str(reason): figures[str(reason)] for reason in Reason if figures[str(reason)]}
    if as_json:
        print_json(asdict(summary))
    else:
        show(summary, f"Abacus since {story.begin:%Y-%m-%d}", reasons)
    if summary.is_at_fault:
        raise typer.Exit(EXIT_FAILED)


async def _is_told(complete: Settings) -> bool:
    """Raises `Refused` where the house has another history, or half of this one."""
    async with database(complete) as pool:
        if await stopped_halfway(pool):
            raise Refused(
                "the story of this house stopped before its end, and does not go on; begin in an empty house: remove"
                " its --data-dir, or name another one"
            )
        if await PeopleStore(pool, SystemClock()).find("cleo") is not None:
            return True
        if await CardStore(pool).all() or await pool.fetchval("select exists (select from transfer)"):
            raise Refused(
                "the story takes an empty house, and this one has rate cards or transfers; leave --console out"
            )
    return False


async def _latencies_ms(pool: Pool, since: datetime) -> tuple[float, float]:
    middle, late = await pool.fetchval(*_LATENCIES(since=since))
    return round(float(middle), 1), round(float(late), 1)


async def _campaigned(pool: Pool) -> dict[str, dict[str, int]]:
    done = {}
    for campaign in await CampaignStore(pool).in_force(SystemClock().now()):
        found = await report_of(pool, campaign)
        lines = [line for line in found.days if line.outcome == "done"]
        done[campaign.name] = {
            "events": found.claims,
            "done": sum(line.events for line in lines),
            "points": sum(line.points for line in lines),
        }
    return done
