"""How partners are known, and told of their awards."""

import random
from typing import Final

from abacus.core.signature import Producer
from abacus.intake.partners.award_intake import AwardIntake
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.register import Register
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.webhooks.outbox import WebhookOutbox
from abacus.intake.partners.webhooks.sender import CONCURRENCY, webhook_sender
from abacus.intake.partners.webhooks.sources import IDLE_S, LEASE, Postings, rejections
from abacus.intake.partners.webhooks.status import POINTS
from abacus.platform.announcements import Announced
from abacus.platform.delivery.post import Poster
from abacus.platform.following.lease_share import share_of_slices
from abacus.platform.following.together import together
from abacus.platform.health import sub_workers_of
from abacus.platform.postgres import Pool
from abacus.platform.slices import MOST, slices_of
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.queue import Client, SqsQueue
from abacus.platform.wiring import Run, Wiring

_CONNECTIONS: Final = 4


def partner_directory(wiring: Wiring, pool: Pool) -> Directory:
    return wiring.keep_keys(Directory(PartnerStore(pool, wiring.clock), wiring.clock), on=(Announced.PARTNERS,))


async def award_intake(wiring: Wiring, client: Client, register: Register) -> tuple[AwardIntake, SqsQueue]:
    """Takes awards of partners; with the queue that it cannot do without."""
    queue, retries = await wiring.queue(client, AWARD), await wiring.queue(client, RETRY)
    intake = AwardIntake(wiring.signed_by(Producer.API, queue), wiring.signed_by(Producer.API, retries), register)
    return kept_intake(wiring, intake), queue


def kept_intake(wiring: Wiring, intake: AwardIntake) -> AwardIntake:
    """Keeps its books until the worker ends, and waits for its requests then."""
    wiring.at_the_end(intake.close)
    wiring.beside(intake.keep_books())
    return intake


def request_journal(wiring: Wiring, pool: Pool) -> RequestJournal:
    journal = RequestJournal(RequestStore(pool), wiring.clock)
    wiring.at_the_end(journal.write)
    wiring.beside(journal.keep_writing())
    return journal


async def webhooks(wiring: Wiring) -> Run:
    settings, clock = wiring.settings, wiring.clock
    # Beside these, one for each slice whose rejections are read, and one to count processes.
    pool = await wiring.pool(size=_CONNECTIONS + MOST + 1)
    slice_map = await wiring.slice_map(pool)
    poster = Poster(to_private=settings.webhooks_to_private, at_once=CONCURRENCY.at_once)
    wiring.at_the_end(poster.close)
    reading, sending, *rejecting = sub_workers_of(wiring.health, 2 + slice_map.slices)
    outbox, idle_s = WebhookOutbox(pool, clock), slice_map.pause_s(IDLE_S)
    share = share_of_slices(LEASE, pool, slice_map, wiring.beside)
    rejected = [
        rejections(pool, clock, health, schema=each.schema, share=share, idle_s=idle_s)
        for each, health in zip(await slices_of(pool), rejecting, strict=True)
    ]
    return together(
        wiring.following(settings.points_topic, POINTS.group, Postings(pool, outbox, reading).handle, reading),
        *(each.run for each in rejected),
        webhook_sender(
            outbox, poster, clock, sending, rng=random.Random(), secrets=wiring.secrets(), idle_s=idle_s
        ).run,
    )
