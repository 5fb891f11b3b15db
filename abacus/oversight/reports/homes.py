"""The clock by which the books are kept: an account's country is its home, and its months are that country's.

All transfers of an account are counted at its home, also for transactions abroad. So the books of each country are
whole accounts, and tie by themselves.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.errors import SetAside
from abacus.platform import slices
from abacus.platform.postgres import LONG_S, Connection
from abacus.pricing.decide.book import CardBook

_COUNTRIES: Final = "select distinct country from account"
_A_DAY: Final = timedelta(days=1)
_LATER: Final = datetime(9999, 1, 1, tzinfo=UTC)
_NO_CARD: Final = ZoneInfo("UTC")


class Homes(NamedTuple):
    """The countries of all accounts, and the time zone of each."""

    countries: Sequence[str]
    zones: Sequence[ZoneInfo]

    @property
    def zone_names(self) -> list[str]:
        return [zone.key for zone in self.zones]

    def begin(self, day: date) -> list[datetime]:
        """The first moment of a day in each country."""
        return [datetime.combine(day, time(), zone).astimezone(UTC) for zone in self.zones]

    def end(self, day: date) -> list[datetime]:
        """The first moment after a day in each country."""
        return self.begin(day + _A_DAY)

    def whenever(self) -> list[datetime]:
        """A moment later than any posting: a clock may run ahead of ours."""
        return [_LATER] * len(self.countries)


async def homes(connection: Connection, book: CardBook, now: datetime) -> Homes:
    rows = await slices.rows_on(connection, (_COUNTRIES,), within_s=LONG_S)
    countries = sorted({row["country"] for row in rows})
    return Homes(countries, [zone_of(book, country, now) for country in countries])


def zone_of(book: CardBook, country: str, now: datetime) -> ZoneInfo:
    """The time zone of the country, by its card."""
    try:
        return book.in_force(country, now).card.zone
    except SetAside:  # its cards begin later, or it has none
        versions = book.versions(country)
        return versions[0].card.zone if versions else _NO_CARD
