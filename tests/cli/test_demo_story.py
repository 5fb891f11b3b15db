"""Six months of history, as the demo tells them: nothing lies outside of them, and everything comes out."""

from datetime import UTC, datetime, timedelta

import pytest

from abacus.cli.demo.afterwards import comes_out
from abacus.cli.demo.counters import shown_counts
from abacus.cli.demo.story.opening import told
from abacus.cli.demo.taken import taken_since
from abacus.cli.house.start_progress import StartProgress
from abacus.core.clock import SystemClock
from abacus.oversight.closing.kind import accounts_desk
from abacus.oversight.closing.store import MonthCloses
from abacus.oversight.reports.homes import homes
from abacus.oversight.reports.movements import rollforward
from abacus.platform.encryption import new_keyring_text
from abacus.platform.postgres import Pool
from abacus.platform.sqs.queue import Client
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from abacus.programs.tiers.tier_proof import Tiers
from abacus.proof.decide.recompute import recompute
from abacus.proof.verify import verify
from abacus.signals.segments.store import SegmentStore
from tests.support.house import unique_settings
from tests.support.queues import quick_queues
from tests.support.services import Services

pytestmark = [pytest.mark.once, pytest.mark.long, pytest.mark.night]

# What is to come is in these, by their meaning.
_TO_COME = {
    *(
        "due",
        "due_at",
        "effective_from",
        "ends_at",
        "expires_at",
        "full_at",
        "held_until",
        "lease_until",
        "retry_until",
    ),
    *("until", "vests_at"),
}
_TIMES = """
select table_name, column_name from information_schema.columns c join information_schema.tables t
    using (table_schema, table_name)
where table_schema = 'public' and table_type = 'BASE TABLE' and data_type = 'timestamp with time zone'
"""


async def test_the_story_stays_within_its_time_and_comes_out(
    services: Services, database_url: str, pool: Pool, queues: Client
) -> None:
    settings = unique_settings(
        database_url=database_url,
        sqs_endpoint_url=services.sqs_endpoint_url,
        kafka_bootstrap=services.kafka_bootstrap,
    ).model_copy(update={"api_port": 0, "secrets_key": new_keyring_text("one")})
    await quick_queues(queues, settings.queue_prefix)
    story = await told(settings, StartProgress(quiet=True), quiet=True)
    assert await times_outside(pool, story.begin) == []
    book = CardBook(await CardStore(pool).all())
    report = await verify(pool, lambda transfer: recompute(transfer, book), beside=[Tiers(book)])
    assert report.clean, report.faults
    assert await comes_out(settings, pool, story.begin)
    last_over = Month.of(datetime.now(UTC).date()).before
    closed = [each.month for each in await MonthCloses(pool).all()]
    assert closed == [last_over.before.before, last_over.before]
    assert await tasks_of_closes(pool) == [
        (kind, str(month), "finn", "done")
        for month in closed
        for kind in ("close-reconcile", "close-check", "close-sign")
    ]
    accounts = {each.document.name for each in await accounts_desk(pool, SystemClock()).records()}
    assert accounts == {"all.all", "OVO.ID"}
    assert [str(month) for month in months_since(story.begin) if not await ties(pool, book, month)] == []
    kinds = {row["kind"] for row in await pool.fetch("select distinct kind from approval where status = 'pending'")}
    assert kinds == {"rate_card", "campaign", "adjustment", "assumption", "offer"}
    assert {tuple(row) for row in await pool.fetch("select distinct reason from quarantine")} == {("unknown-vertical",)}
    reasons = {row["reason"] for row in await pool.fetch("select distinct reason from tier_change")}
    assert reasons >= {"upgrade", "period end"}
    assert min((await shown_counts(settings, pool)).values()) > 0
    taken = await taken_since(pool, story.begin, datetime.now(UTC))
    assert min(*taken.offers.values(), *taken.rewards.values(), taken.pending_points) > 0, taken
    segments = {each.name for each in await SegmentStore(pool).all() if each.size}
    assert segments == {"early_members", "near_a_mart", "early_and_near"}


async def times_outside(pool: Pool, begin: datetime) -> list[tuple[str, str, datetime, datetime]]:
    """The columns with a time before the story, or after it where it is no time to come."""
    begin_of_cards, outside = begin - timedelta(days=1), []  # cards begin with the day
    for table, column in await pool.fetch(_TIMES):
        first, last = await pool.fetchrow(f"select min({column}), max({column}) from {table}")  # names of the catalog
        is_over = last is not None and last > datetime.now(UTC) and column not in _TO_COME
        if first is not None and (first < begin_of_cards or is_over):
            outside.append((table, column, first, last))
    return outside


async def tasks_of_closes(pool: Pool) -> list[tuple[str, str, str, str]]:
    """In the order in which they were asked for."""
    rows = await pool.fetch("select kind, subject, asked_by, state from console_errand order by asked_at")
    return [tuple(row) for row in rows]


def months_since(begin: datetime) -> list[Month]:
    months = [Month.of(begin.date())]
    while months[-1].first_day < datetime.now(UTC).date().replace(day=1):
        months.append(months[-1].after)
    return months


async def ties(pool: Pool, book: CardBook, month: Month) -> bool:
    async with pool.acquire() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        books = await rollforward(connection, await homes(connection, book, datetime.now(UTC)), month, frozenset())
    return books.tied
