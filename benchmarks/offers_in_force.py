"""Puts offers on rides into force: written as the store writes campaigns, because to approve thousands takes long."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from abacus.documents.decide.states import Status
from abacus.documents.store import DocumentStore
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.decide.document import to_document
from abacus.engage.campaigns.publications import publications
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from abacus.signals.events.replay import again_topic
from abacus.signals.events.wiring import built_in_sources
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.store import Author, SegmentStore
from abacus.signals.segments.types import How, Members
from benchmarks.ride_offers import SOURCE, digits_of, member_name, offers, segment_name, source_document
from benchmarks.services import PARTITIONS

_AUTHOR: Final = "bench:author"
_APPROVER: Final = "bench:approver"
_APPROVED_BEFORE: Final = timedelta(minutes=5)
_AT_ONCE: Final = 20_000


def rides_topic(settings: Settings) -> str:
    return f"{settings.queue_prefix}{SOURCE}"


@asynccontextmanager
async def rides_source(settings: Settings, members: int) -> AsyncIterator[None]:
    """The source of rides on a topic of its own, and the segments of so many members; the topic goes with the block."""
    topics = [NewTopic(topic, PARTITIONS, 1) for topic in (rides_topic(settings), settings.events_topic)]
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.required("kafka_bootstrap"))
    await admin.start()
    try:
        await admin.create_topics(topics)
        await publish_rides(settings, members)
        yield
    finally:
        ours = {rides_topic(settings), again_topic(settings.events_topic)}
        await admin.delete_topics(sorted(ours & set(await admin.list_topics())))
        await admin.close()


async def publish_rides(settings: Settings, members: int) -> None:
    pool = await open_pool(settings.required("database_url"), size=1, role=None)
    now = datetime.now(UTC)
    try:
        await DocumentStore(pool, SOURCES).publish(
            [parse_source(source_document(rides_topic(settings)))],
            Reserved(built_in_sources(settings), settings.events_topic).look,
            by=_AUTHOR,
            now=now,
        )
        for (place, digit), numbers in (await _segments(pool, members)).items():
            author = Author(_AUTHOR, now)
            await SegmentStore(pool).change(
                segment_name(place, digit), How.LOAD, Members(numbers), author, country=None
            )
        await pool.execute("vacuum analyze member_number")
    finally:
        await pool.close()


async def _segments(pool: Pool, members: int) -> Mapping[tuple[int, int], Sequence[int]]:
    """The numbers of the members of each segment."""
    found: dict[tuple[int, int], list[int]] = {}
    for first in range(0, members, _AT_ONCE):
        some = range(first, min(members, first + _AT_ONCE))
        numbers = await MemberNumbers(pool).give(map(member_name, some))
        for member in some:
            number = numbers[member_name(member)]
            for place, digit in enumerate(digits_of(member)):
                found.setdefault((place, int(digit)), []).append(number)
    return found


async def put_in_force(settings: Settings, number: int) -> Sequence[Campaign]:
    """So many offers on rides run from now on."""
    pool = await open_pool(settings.required("database_url"), size=1, role=None)
    now = datetime.now(UTC)
    try:
        around = await publications(pool, built_in_sources(settings), now)
        campaigns = [parse_campaign(each, around).numbered(1) for each in offers(number, now)]
        async with pool.acquire() as connection:
            rows = list(_rows(campaigns, now))
            await connection.copy_records_to_table(
                "campaign", records=[tuple(each.values()) for each in rows], columns=list(rows[0])
            )
        await pool.execute("vacuum analyze campaign")
    finally:
        await pool.close()
    return campaigns


def _rows(campaigns: Iterable[Campaign], now: datetime) -> Iterator[dict[str, Any]]:
    approved_at = now - _APPROVED_BEFORE
    for each in campaigns:
        yield {
            "name": each.name,
            "version": each.version,
            "country": each.country,
            "starts_at": each.starts_at,
            "ends_at": each.ends_at,
            "document": json.dumps(to_document(each)),
            "status": Status.APPROVED.value,
            "drafted_at": approved_at,
            "drafted_by": _AUTHOR,
            "changed_at": approved_at,
            "changed_by": _APPROVER,
            "approved_by": _APPROVER,
            "approved_at": approved_at,
            "reason": None,
        }
