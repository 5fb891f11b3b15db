"""The campaigns of the demo: five of them, over the events of an app, from their approval to their reports."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from abacus.cli.demo.two_people import APPROVER, EDITOR, approvals_of, enter_people
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, Unavailable
from abacus.documents.decide.states import Status
from abacus.documents.store import DocumentStore
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.examples import APP, OF_THE_APP
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.report import faults_of, report
from abacus.engage.notify.renderer import rendering
from abacus.ledger.store.key_search import claims_of
from abacus.platform import slices
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.sql import Statement
from abacus.signals.events.decide.message import encode_event, partition_key
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from abacus.signals.events.types import Event
from abacus.signals.events.wiring import built_in_sources

SOURCE: Final[Mapping[str, Any]] = {
    "source": APP,
    "senders": ["demo"],
    "types": {
        "order.completed": {"vertical": "text", "minutes": "integer"},
        "booking.cancelled": {"by": "text"},
        "ride.completed": {"part_of_day": "text"},
    },
}
_MEMBERS: Final = 20
_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.1


async def start_campaigns(complete: Settings, pool: Pool) -> Sequence[Campaign]:
    """Publishes the source and approves the campaigns; running campaigns go on."""
    now = SystemClock().now()
    sources, built_in = DocumentStore(pool, SOURCES), built_in_sources(complete)
    if APP not in {record.document.name for record in await sources.latest()}:
        await sources.publish(
            [parse_source(SOURCE)], Reserved(built_in, complete.events_topic).look, by="abacus demo", now=now
        )
    await enter_people(complete)
    approvals = approvals_of(pool, built_in)
    times = {"starts_at": now.isoformat(), "ends_at": (now + timedelta(days=365)).isoformat()}
    campaigns = []
    async with rendering() as renderer:
        desk = CampaignDesk(pool, SystemClock(), built_in, approvals, renderer)
        for document in OF_THE_APP:
            name = f"demo_{document['name']}"
            of = {**document, "name": name, **times, "country": "SG", "timezone": "Asia/Singapore"}
            in_force = [each for each in await desk.history(name) if each.status is Status.APPROVED]
            if in_force:
                campaigns.append(in_force[-1].document)
                continue
            record, asked = await desk.propose(await desk.read(of), EDITOR)
            await approvals.approve(asked.approval_id, APPROVER, asked.digest)
            campaigns.append(record.document)
    return campaigns


async def play_events(complete: Settings) -> int:
    """Sends the events of some members, each of them twice; returns how many there are."""
    events = _events(SystemClock().now())
    publisher = StreamPublisher(complete.required("kafka_bootstrap"))
    try:
        messages = [StreamMessage(partition_key(event), encode_event(event)) for event in events]
        await publisher.publish(complete.events_topic, messages + messages)
    finally:
        await publisher.close()
    return len(events)


async def until_all_is_done(pool: Pool, campaigns: Sequence[Campaign]) -> Mapping[str, Mapping[str, int]]:
    """Waits until the campaigns have done what these events ask for and all points are posted. As `done_so_far`."""
    deadline = time.monotonic() + _WITHIN_S
    while not await _is_done(pool, campaigns):
        if time.monotonic() > deadline:
            raise Unavailable("campaigner", f"campaigns are not done after {_WITHIN_S:.0f} s")
        await asyncio.sleep(_LOOK_EVERY_S)
    return await done_so_far(pool, campaigns)


async def done_so_far(pool: Pool, campaigns: Sequence[Campaign]) -> Mapping[str, Mapping[str, int]]:
    """What each campaign has done since its beginning. Raises `Refused` where a report does not come out."""
    done = {}
    for campaign in campaigns:
        found = await report(pool, campaign)
        if faults := faults_of(found):
            raise Refused(f"{campaign.label}: {'; '.join(faults)}")
        lines = [line for line in found.days if line.outcome == "done"]
        done[campaign.name] = {
            "events": found.claims,
            "done": sum(line.events for line in lines),
            "points": sum(line.points for line in lines),
        }
    return done


async def _is_done(pool: Pool, campaigns: Sequence[Campaign]) -> bool:
    """Every event has its claims, no action waits, and every award is posted."""
    rows = await slices.rows(pool, _DONE(campaigns=[campaign.name for campaign in campaigns]))
    claims, awards = sum(row["claims"] for row in rows), [key for row in rows for key in row["awards"] or ()]
    if any(row["waiting"] for row in rows) or not claims or claims % (_MEMBERS * _CLAIMS_OF_MEMBER):
        return False
    posted = await claims_of(pool, awards)
    return all(key in posted for key in awards)


_DONE: Final = Statement("""
select (select count(*) from campaign_claim where campaign = any(:campaigns::text[])) as claims,
    (select count(*) from action
        where owner = any(:campaigns::text[]) and done_at is null and refused_at is null) as waiting,
    (select array_agg(key) from action
        where owner = any(:campaigns::text[]) and kind = 'award' and refused_at is null) as awards
""")
_CLAIMS_OF_MEMBER: Final = 3 + 1 + 1 + 1 + 2  # orders, a late one, a cancellation, a morning ride, two rides


def _events(now: datetime) -> list[Event]:
    mark = now.strftime("%Y%m%d%H%M%S%f")

    def event(member: int, type_: str, number: int, **variables: str | int) -> Event:
        id_ = f"{mark}-{member}-{type_}-{number}"
        return Event(APP, type_, id_, f"demo-{member}", "SG", now, variables)

    events = []
    for member in range(_MEMBERS):
        events += [event(member, "order.completed", n, vertical="mart", minutes=20 + 25 * n) for n in range(3)]
        events += [event(member, "booking.cancelled", n, by=by) for n, by in enumerate(("driver", "member"))]
        events += [event(member, "ride.completed", n, part_of_day=part) for n, part in enumerate(_PARTS)]
    return events


_PARTS: Final = ("morning", "evening")
