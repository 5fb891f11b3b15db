"""Offers on rides, as many as asked for, the segments that they name, and rides of which it is known what they earn.

Six offers of a city differ in vehicles, amount and segment. A ride there answers to several of them as far as it tells
itself; the segments are such that its member is in that of one of them at most. Pure, but for the time of a ride.
"""

import random
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from abacus.cli.examples import example_cards
from benchmarks.services import COUNTRIES, PARTITIONS

SOURCE: Final = "rides"
TYPE: Final = "ride.completed"
POINTS: Final = 10
EVERY: Final = 10  # of so many rides one earns points
SEGMENTS: Final = 100
_OF_A_CITY: Final = 6
_DIGITS: Final = 10
_VEHICLES: Final = (b"car", b"bike", b"van", b"taxi")
_AMOUNTS: Final = (5, 10, 15)
_MOST: Final = 60
_ODD: Final = 0x9E3779B97F4A7C15
_ZONES: Final = {card.scope: card.timezone for card in example_cards()}
_LIFE: Final = timedelta(days=30)


def source_document(topic: str) -> Mapping[str, Any]:
    return {
        "source": SOURCE,
        "topic": topic,
        "fields": {"type": "/type", "id": "/id", "member": "/member", "country": "/country", "time": "/at"},
        "types": {TYPE: {"city": "text", "vehicle": "text", "amount": "decimal", "minutes": "integer"}},
    }


def offers(number: int, now: datetime) -> Iterator[Mapping[str, Any]]:
    """The documents of so many campaigns."""
    for each in range(number):
        city, place = divmod(each, _OF_A_CITY)
        country = COUNTRIES[city % len(COUNTRIES)]
        vehicles = [name.decode() for name in _VEHICLES if name is not _excluded(place)]
        conditions = [
            {"operator": "eq", "lhs": "var.city", "rhs": f"city-{city}"},
            {"operator": "in", "lhs": "var.vehicle", "rhs": vehicles},
            {"operator": "gte", "lhs": "var.amount", "rhs": str(_AMOUNTS[place % len(_AMOUNTS)])},
            {"operator": "eq", "lhs": f"segment.{segment_name(*_segment(city, place))}", "rhs": True},
        ]
        yield {
            "name": f"ride_{each:05}",
            "country": country,
            "timezone": _ZONES[country],
            "starts_at": (now - _LIFE).isoformat(),
            "ends_at": (now + _LIFE).isoformat(),
            "on": [f"{SOURCE}/{TYPE}"],
            "when": {"operator": "and", "conditions": conditions},
            "steps": [{"do": [{"award": {"points": POINTS}}]}],
            "limits": {"runs": {"overall": 1_000_000, "member": 1_000}},
        }


def member_name(member: int) -> str:
    return f"m{member:08}"


def segment_name(place: int, digit: int) -> str:
    return f"s{place}{digit}"


def digits_of(member: int) -> str:
    """The member is in the segment of each of these ten digits at its place: in ten of a hundred."""
    return f"{((member * _ODD) % 2**64 >> 29) % 10**_DIGITS:010}"


def earning(rides: int) -> int:
    """How many of so many rides earn points."""
    return -(-rides // EVERY)


class Rides:
    """Rides of random members in random cities, each at the moment at which it is sent; numbered, and every tenth of
    them earns points by one offer.
    """

    def __init__(self, mark: str, offers_there: int, accounts: int) -> None:
        self._rng = random.Random(mark)
        self._mark = mark.encode()
        self._offers = offers_there
        self._accounts = accounts

    def messages(self, numbers: range) -> Iterator[tuple[int, bytes, bytes]]:
        """The partition, key and value of each message."""
        chance = self._rng.random
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds").encode()
        for number in numbers:
            city, place = divmod(int(chance() * self._offers), _OF_A_CITY)
            earns = number % EVERY == 0
            if earns:
                vehicle = _VEHICLES[(place + 1 + int(chance() * (len(_VEHICLES) - 1))) % len(_VEHICLES)]
                amount = max(_AMOUNTS) + int(chance() * (_MOST - max(_AMOUNTS)))
            else:
                vehicle, amount = _VEHICLES[int(chance() * len(_VEHICLES))], 1 + int(chance() * _MOST)
            member = self._member(city, place if earns else None)
            key = b"m%08d" % member
            yield (
                member // len(COUNTRIES) % PARTITIONS,
                key,
                b'{"type": "ride.completed", "id": "%s-%d", "member": "%s", "country": "%s", "at": "%s",'
                b' "city": "city-%d", "vehicle": "%s", "amount": "%d.50", "minutes": %d}'
                % (
                    *(self._mark, number, key, COUNTRIES[city % len(COUNTRIES)].encode(), stamp),
                    *(city, vehicle, amount, 2 + number % 80),
                ),
            )

    def _member(self, city: int, place: int | None) -> int:
        """Of the city's country: in the segment of the offer, or in that of none of the city's offers."""
        countries, chance = len(COUNTRIES), self._rng.random
        at = _segment(city, 0)[0]
        wanted = {str(_segment(city, each)[1]) for each in (range(_OF_A_CITY) if place is None else (place,))}
        while True:
            member = int(chance() * (self._accounts // countries)) * countries + city % countries
            if (digits_of(member)[at] in wanted) is (place is not None):
                return member


def _segment(city: int, place: int) -> tuple[int, int]:
    """Of one place for all offers of a city, where a member has one digit."""
    return city // _DIGITS % _DIGITS, (city + place) % _DIGITS


def _excluded(place: int) -> bytes:
    return _VEHICLES[place % len(_VEHICLES)]
