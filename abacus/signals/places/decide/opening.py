"""Which places are open at a moment. Pure."""

from collections.abc import Container
from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo

from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.hours import is_open, parse_hours
from abacus.signals.places.decide.place import Place, Traits


class Opening:
    """Remembers its answers, since many places have the same hours: one serves all questions about a moment."""

    def __init__(self, now: datetime, maps: Maps) -> None:
        self._now: Final = now
        self._maps: Final = maps
        self._known: dict[tuple[str, str, str | None], bool] = {}
        self._clocks: dict[tuple[str, str | None], tuple[datetime, Container[date]]] = {}

    def is_open(self, place: Place | Traits) -> bool | None:
        """None where nobody knows."""
        if place.hours is None:
            return None
        key = place.hours, place.country, place.timezone
        known = self._known.get(key)
        if known is None:
            local, holidays = self._clock(place.country, place.timezone)
            known = self._known[key] = is_open(parse_hours(place.hours), local, holidays)
        return known

    def _clock(self, country: str, timezone: str | None) -> tuple[datetime, Container[date]]:
        """What the clock of a place shows, and the holidays of its country."""
        key = country, timezone
        if key not in self._clocks:
            map_ = self._maps.of(country)
            zone = map_.zone if timezone is None else ZoneInfo(timezone)
            self._clocks[key] = self._now.astimezone(zone), map_.holidays
        return self._clocks[key]
