"""Looks in Postgres: what is posted, rejected, entered by partners, and set aside."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Final

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
from abacus.platform.sql import Statement

_MOST_ASIDE: Final = 1000
_REJECTIONS: Final = Statement("""
select key, reason, detail, rejected_at from rejection where key = any(:keys::text[])
""")


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
    sightings: list[Sighting] = []
    async with aclosing(QuarantineStore(pool, clock).speaking_of(wanted.keys, wanted.word)) as items:
        async for held in items:
            item = held.item
            mentioned = [each for each in mentions(item.body) if wanted.is_meant_by(each)]
            if item.key in wanted.keys or mentioned:
                key = item.key or (mentioned[0].key if mentioned else None)
                why = f"{held.status} as {item.id}: {item.reason}: {item.detail}"
                sightings.append(Sighting(Station.QUARANTINE, key, held.set_aside_at, why, f"quarantine:{item.id}"))
            if len(sightings) == _MOST_ASIDE:
                break
    return sightings
