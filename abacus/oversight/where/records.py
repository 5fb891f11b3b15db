"""Looks in Postgres: what is posted, rejected, entered by partners, and set aside."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.ids import award_id
from abacus.core.sources import partner_source
from abacus.intake.partners.register import Register
from abacus.ledger.store.read import LedgerReader
from abacus.oversight.where.decide.mentions import Wanted, mentions
from abacus.oversight.where.types import Sighting, Station
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import HeldItem
from abacus.platform.sql import Statement

AMONG: Final = 20_000  # items of the quarantine
_MOST_ASIDE: Final = 1000
_MOST_SOON: Final = 100
_MOST_READ: Final = 1000  # bodies of items that may have the text in other letters
_REJECTIONS: Final = Statement("""
select key, reason, detail, rejected_at from rejection where key = any(:keys::text[])
""")


class Aside(NamedTuple):
    """What the quarantine has of it. `is_whole`: every item was looked at."""

    sightings: list[Sighting]
    is_whole: bool


async def in_ledger(pool: Pool, keys: Sequence[str]) -> list[Sighting]:
    """Postings under these keys. Raises `Unavailable`."""
    ledger, sightings = LedgerReader(pool), list[Sighting]()
    for key, claim in (await ledger.claims_of(keys)).items():
        transfer = await ledger.transfer(claim)
        if transfer is not None:
            why = f"posted: {transfer.points:+,} {transfer.program} for {transfer.member_id}, as #{transfer.seq}"
            about = f"member:{transfer.member_id}"
            sightings.append(Sighting(Station.LEDGER, key, transfer.posted_at, why, about))
    rows = await slices.rows(pool, _REJECTIONS(keys=list(keys)))
    return sightings + [
        Sighting(Station.REJECTED, row["key"], row["rejected_at"], f"{row['reason']}: {row['detail']}") for row in rows
    ]


async def in_register(pool: Pool, clock: Clock, keys: Sequence[str]) -> list[Sighting]:
    """Awards that partners asked for under these keys. Raises `Unavailable`."""
    states = await Register(pool, clock).states([award_id(key) for key in keys])
    return [
        Sighting(
            Station.PARTNERS,
            each.award.key,
            each.asked_at,
            f"asked for by {each.partner_id}: {each.status}",
            partner_source(each.partner_id),
        )
        for each in states.values()
    ]


async def in_quarantine(pool: Pool, clock: Clock, wanted: Wanted) -> list[Sighting]:
    """Items that speak of it, replayed ones as well; a thousand at most. Raises `Unavailable`."""
    items = QuarantineStore(pool, clock).speaking_of(wanted.keys, wanted.word)
    return (await _sightings(items, wanted, _MOST_ASIDE)).sightings


async def soon_in_quarantine(pool: Pool, clock: Clock, wanted: Wanted, *, among: int = AMONG) -> Aside:
    """Items under its key, and of the newest the items that speak of it, in a time that does not grow with the
    quarantine. Raises `Unavailable`.
    """
    store = QuarantineStore(pool, clock)
    items = store.speaking_of(wanted.keys, wanted.word, among=among, most=_MOST_READ)
    found = await _sightings(items, wanted, _MOST_SOON)
    return found._replace(is_whole=found.is_whole and not await store.has_more_than(among))


async def _sightings(items: AsyncGenerator[HeldItem, None], wanted: Wanted, most: int) -> Aside:
    sightings: list[Sighting] = []
    read = 0
    async with aclosing(items):
        async for held in items:
            item, read = held.item, read + 1
            mentioned = [each for each in mentions(item.body) if wanted.is_meant_by(each)]
            if item.key in wanted.keys or mentioned:
                key = item.key or (mentioned[0].key if mentioned else None)
                why = f"{held.status} as {item.id}: {item.reason}: {item.detail}"
                sightings.append(Sighting(Station.QUARANTINE, key, held.set_aside_at, why, f"quarantine:{item.id}"))
            if len(sightings) == most:
                break
    return Aside(sightings, is_whole=read < _MOST_READ and len(sightings) < most)
