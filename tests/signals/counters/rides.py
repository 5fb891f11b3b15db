"""Rides, the counters of rides, and a plain count of them to hold the counters against."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

import orjson

from abacus.platform.postgres import Pool
from abacus.signals.counters.decide.account import EventFates
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.decide.grid import grain_of
from abacus.signals.counters.decide.tiles import slots_of
from abacus.signals.counters.types import Grain
from abacus.signals.events.decide.source import Source, parse_source

RIDES_OF_MEMBER: Final = {
    "id": 1,
    "name": "rides_of_member",
    "template": "rides:member:{member_id}",
    "on": ["ride.done"],
}
FARES_OF_CITY: Final = {
    "id": 2,
    "name": "fares_of_city",
    "template": "fares:city:{city}",
    "on": ["ride.done"],
    "add": "var.fare",
    "keep": {"minutes": "36h"},
}
CAR_RIDES: Final = {
    "id": 3,
    "name": "car_rides",
    "template": "rides:car:{country}",
    "on": ["ride.done"],
    "when": {"operator": "eq", "lhs": "var.vehicle", "rhs": "car"},
    "timezone": "Asia/Kolkata",
}
COUNTERS: Final = (RIDES_OF_MEMBER, FARES_OF_CITY, CAR_RIDES)
NO_RIDES: Final = (b"{", b'{"type": "ride.lost"}', b'{"type": "ride.done", "id": 7}')

Sums = dict[tuple[str, int], int]


def rides_source(topic: str, *, substream: bool = False) -> Source:
    document = {
        "source": "rides",
        "topic": topic,
        "fields": {"type": "/type", "id": "/id", "member": "/member", "country": "/country", "time": "/at"},
        "types": {"ride.done": {"city": "integer", "vehicle": "text", "fare": "decimal"}},
        "substream": substream,
    }
    return parse_source(document)


def drafts(source: Source, counters: Iterable[Mapping[str, Any]] = COUNTERS) -> list[Definition]:
    return [parse_definition(document, {source.name: source}) for document in counters]


class Ride(NamedTuple):
    """An event, as its sender knows it."""

    number: int
    member: int
    city: int
    vehicle: str
    fare: Decimal
    at: datetime

    @property
    def country(self) -> str:
        return "SG" if self.member % 3 else "VN"

    @property
    def body(self) -> bytes:
        return orjson.dumps(
            {
                "type": "ride.done",
                "id": f"R{self.number}",
                "member": f"m{self.member}",
                "country": self.country,
                "city": self.city,
                "vehicle": self.vehicle,
                "fare": str(self.fare),
                "at": self.at.isoformat(),
            }
        )


def ride(number: int, **changes: Any) -> Ride:
    """A ride a minute ago, with some facts changed."""
    return Ride(number, 1, 7, "car", Decimal("12.50"), datetime.now(UTC) - timedelta(minutes=1))._replace(**changes)


def rides(count: int, rng: random.Random, *, first: int = 0) -> list[Ride]:
    """Most are of the last minutes, some come late by hours or days."""
    now = datetime.now(UTC)
    return [
        Ride(
            number,
            rng.randrange(20),
            rng.randrange(3),
            rng.choice(("car", "bike")),
            Decimal(rng.randrange(-500, 3000)) / 100,
            now - timedelta(minutes=rng.choice((0, 1, 5, 20, 70, 60 * 30))),
        )
        for number in range(first, first + count)
    ]


def plain_count(sent: Iterable[Ride], definitions: Sequence[Definition]) -> Sums:
    """The units under each stored key in each slot, added one by one."""
    sums: Counter[tuple[str, int]] = Counter()
    for each in sent:
        adds = {
            1: (f"rides:member:m{each.member}", 1),
            2: (f"fares:city:{each.city}", int(each.fare * 100)),
            3: (f"rides:car:{each.country}", int(each.vehicle == "car")),
        }
        for definition in definitions:
            key, units = adds[definition.id]
            for slot, _ in slots_of(definition, int(each.at.timestamp())):
                sums[definition.stored_key(key), slot] += units
    return without_zeros(sums)


COUNTED: Final = (Grain.MINUTE, Grain.QUARTER, Grain.HOUR, Grain.DAY)  # the other grains remember


def added_up(parts: Iterable[Sums]) -> Sums:
    """The sums of several counts together."""
    sums: Counter[tuple[str, int]] = Counter()
    for part in parts:
        for place, units in part.items():
            sums[place] += units
    return without_zeros(sums)


def without_zeros(sums: Mapping[tuple[str, int], int]) -> Sums:
    """A row with nothing in it is as good as no row."""
    return {place: units for place, units in sums.items() if units}


async def stored_sums(pool: Pool) -> Sums:
    """The sums over all writers, as they are stored."""
    rows = await pool.fetch("select key, slot, sum(count)::bigint as units from counter_row group by key, slot")
    counts = {(row["key"], row["slot"]): row["units"] for row in rows if grain_of(row["slot"]) in COUNTED}
    return without_zeros(counts)


async def tallies(pool: Pool) -> EventFates:
    """What became of all events, over all writers. Raises an error when they do not add up."""
    sums = ", ".join(f"coalesce(sum({field}), 0)::bigint" for field in EventFates._fields)
    found = EventFates(*await pool.fetchrow(f"select {sums} from counter_tally"))  # names of fields
    assert found.seen == sum(found[1:])
    return found
