"""Reads all parts of the state, and says of each that cannot be read why not."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Final, NamedTuple, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import AbacusError
from abacus.oversight.status import sources
from abacus.oversight.status.capabilities import overdue, undelivered
from abacus.oversight.status.sources import Group, Notes
from abacus.oversight.status.types import Snapshot, Workforce
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.queue import Client

_WITHIN_S: Final = 20.0

Part = TypeVar("Part")


class Places(NamedTuple):
    """Where to look. A database that is away is None, and so is a broker that no setting names."""

    pool: Pool | None
    sqs: Client
    kafka: str | None
    prefix: str
    points_topic: str
    groups: Sequence[Group]
    always: Sequence[str]  # workers whose groups are looked at though no process has noted them


async def read(places: Places, clock: Clock, unknown: dict[str, str]) -> Snapshot:
    """The state of everything. `unknown` has the parts that are known to be out of reach."""
    pool = places.pool
    heard: Notes | None = None
    relaying = held = late = outside = None
    if pool is not None:
        heard = await _known("processes", sources.notes(pool, clock), unknown)
        relaying = await _known("relay", sources.relay(pool, places.points_topic, clock), unknown)
        held = await _known("quarantine", QuarantineStore(pool, clock).counts(), unknown)
        outside = await _known("deliveries", undelivered(pool, clock), unknown)
        late = await _known("jobs", overdue(pool, clock.now()), unknown)
    workforce = heard.workforce if heard is not None else None
    queued = await _known(
        "queues", sources.queues(places.sqs, places.prefix, heard.oldest_s if heard is not None else {}), unknown
    )
    lags = None
    if places.kafka is not None:
        lags = await _known(
            "groups", sources.lags(places.kafka, groups_in_use(places.groups, places.always, workforce)), unknown
        )
    else:
        unknown["groups"] = "ABACUS_KAFKA_BOOTSTRAP is not set"
    return Snapshot(
        at=clock.now(),
        workforce=workforce,
        lags=lags,
        queues=queued,
        relay=relaying,
        quarantine=None if held is None else {str(reason): count for reason, count in held.items()},
        undelivered=outside,
        overdue=late,
        unknown=unknown,
    )


def groups_in_use(groups: Sequence[Group], always: Sequence[str], workforce: Workforce | None) -> list[Group]:
    """A worker that is not used has a group that reads nothing, and that is no fault."""
    used = {*always, *(each.worker for each in (workforce.workers if workforce is not None else ()))}
    return [group for group in groups if group.worker in used]


async def _known(name: str, reading: Awaitable[Part], unknown: dict[str, str]) -> Part | None:
    try:
        async with asyncio.timeout(_WITHIN_S):
            return await reading
    except TimeoutError:
        unknown[name] = f"no answer within {_WITHIN_S:.0f} s"
    except AbacusError as error:
        unknown[name] = str(error)
    return None
