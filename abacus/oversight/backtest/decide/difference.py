"""The points that a draft card would have awarded, against the awarded points. Pure; `backtest` reads the ledger."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar

DIMENSIONS: Final = ("vertical", "payment_type", "tier", "month")
Key = TypeVar("Key", str, tuple[str, str, str, str])

GRANTED: Final = "granted"  # a partner or a campaign named the points; no card prices them


class Replayed(NamedTuple):
    """Awards of one kind and month: their points, and their points by the draft. The draft does not price awards
    with a `reason`. An event with a fixed award has its type in place of a vertical.
    """

    country: str
    vertical: str
    payment_type: str
    tier: str
    month: str
    reason: str | None
    awards: int
    points: int
    drafted: int


class Difference(NamedTuple):
    """Awards that the draft prices, with both sums."""

    vertical: str
    payment_type: str
    tier: str
    month: str
    awards: int
    points: int
    drafted: int
    difference: int


class Step(NamedTuple):
    """The difference along one dimension."""

    name: str
    awards: int
    points: int
    drafted: int
    difference: int


class Unpriced(NamedTuple):
    """Awards that keep their points in this comparison, and the reason."""

    reason: str
    awards: int
    points: int


class Backtest(NamedTuple):
    """All replayed awards."""

    replayed: list[Replayed]

    @property
    def differences(self) -> list[Difference]:
        """The difference of every combination, over the countries."""
        groups = _groups(self._priced(), lambda row: (row.vertical, row.payment_type, row.tier, row.month))
        return [Difference(*key, *_sums(rows)) for key, rows in groups.items()]

    @property
    def total(self) -> Step:
        return Step("total", *_sums(self._priced()))

    @property
    def unpriced(self) -> list[Unpriced]:
        """The awards that the draft does not price. Partners' grants are among them: no card prices a grant."""
        groups = _groups([row for row in self.replayed if row.reason is not None], lambda row: str(row.reason))
        return [Unpriced(reason, *_sums(rows)[:2]) for reason, rows in groups.items()]

    def along(self, dimension: str) -> list[Step]:
        groups = _groups(self._priced(), lambda row: str(getattr(row, dimension)))
        return [Step(name, *_sums(rows)) for name, rows in groups.items()]

    def by_country(self) -> dict[str, int]:
        """The difference in points of each country."""
        groups = _groups(self._priced(), lambda row: row.country)
        return {country: _sums(rows)[-1] for country, rows in groups.items()}

    def _priced(self) -> list[Replayed]:
        return [row for row in self.replayed if row.reason is None]


def _groups(rows: Iterable[Replayed], key: Callable[[Replayed], Key]) -> dict[Key, list[Replayed]]:
    """In the order of the keys."""
    groups: dict[Key, list[Replayed]] = {}
    for row in sorted(rows, key=key):
        groups.setdefault(key(row), []).append(row)
    return groups


def _sums(rows: Iterable[Replayed]) -> tuple[int, int, int, int]:
    """Awards, points, drafted points, and their difference."""
    awards = points = drafted = 0
    for row in rows:
        awards, points, drafted = awards + row.awards, points + row.points, drafted + row.drafted
    return awards, points, drafted, drafted - points
