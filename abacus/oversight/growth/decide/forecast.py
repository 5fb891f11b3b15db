"""When the disks are full at the rate of the last days. Pure."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Final

from abacus.oversight.growth.types import DATABASE, DiskForecast, SizeOfDay, Sizes, TableGrowth

LOOKS_BACK: Final = timedelta(days=30)
WARNS_WITHIN: Final = 30  # days that are left
_FARTHEST: Final = 36_500  # days; later is never
LARGEST: Final = 10  # tables that are shown


def forecast(sizes: Sizes, past: Iterable[SizeOfDay], today: date, disk: int | None) -> DiskForecast:
    """By the oldest day of the last thirty, so that neither an hour of load nor a vacuum is taken for a trend. A table
    that is not in that day is new: its growth is all that it has.
    """
    known = [each for each in past if today - LOOKS_BACK <= each.day < today]
    first = min((each.day for each in known if each.of_table == DATABASE), default=None)
    then = {each.of_table: each.bytes for each in known if each.day == first}
    days = (today - first).days if first is not None else 0

    def a_day(table: str, now: int) -> int | None:
        return round((now - then.get(table, 0)) / days) if days else None

    more = a_day(DATABASE, sizes.database)
    left = _days_left(sizes.database, more, disk)
    largest = sorted(sizes.tables.items(), key=lambda each: (-each[1], each[0]))[:LARGEST]
    return DiskForecast(
        bytes=sizes.database,
        a_day=more,
        by_days=days,
        disk=disk,
        days_left=left,
        full_on=None if left is None else today + timedelta(days=left),
        largest=tuple(TableGrowth(table, size, a_day(table, size)) for table, size in largest),
    )


def forecast_of_last(noted: Sequence[SizeOfDay], disk: int | None) -> DiskForecast | None:
    """As it was on the last day that was noted."""
    if not noted:
        return None
    last = max(each.day for each in noted)
    tables = {each.of_table: each.bytes for each in noted if each.day == last}
    database = tables.pop(DATABASE, 0)
    return forecast(Sizes(database, tables), noted, last, disk)


def _days_left(size: int, more: int | None, disk: int | None) -> int | None:
    if disk is None:
        return None
    if size >= disk:
        return 0
    if more is None or more <= 0:
        return None
    left = (disk - size) // more
    return left if left <= _FARTHEST else None
