"""Which places are open at a moment. Pure."""

from collections.abc import Container
from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.hours import is_open, parse_hours
from abacus.signals.places.decide.place import Door, Place, Traits, door_of


class Opening:
    """Remembers its answers, since many places have the same hours: one serves all questions about a moment."""

    def __init__(self, now: datetime, maps: Maps) -> None:
        self._now: Final = now
        self._maps: Final = maps
        self._known: dict[Door, bool] = {}
        self._clocks: dict[tuple[str, str | None], tuple[datetime, Container[date]]] = {}

    def is_open(self, place: Place | Traits) -> bool | None:
        """None where nobody knows."""
        door = door_of(place)
        return None if door is None else self.of(door)

    def of(self, door: Door) -> bool:
        known = self._known.get(door)
        if known is None:
            hours, country, timezone = door
            local, holidays = self._clock(country, timezone)
            known = self._known[door] = is_open(parse_hours(hours), local, holidays)
        return known

    def _clock(self, country: str, timezone: str | None) -> tuple[datetime, Container[date]]:
        """What the clock of a place shows, and the holidays of its country."""
        key = country, timezone
        if key not in self._clocks:
            map_ = self._maps.of(country)
            zone = map_.zone if timezone is None else ZoneInfo(timezone)
            self._clocks[key] = self._now.astimezone(zone), map_.holidays
        return self._clocks[key]
