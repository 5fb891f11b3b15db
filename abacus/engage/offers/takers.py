"""The members of a backtest, in a file that is thrown away, so that any number of members takes the same memory."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from abacus.engage.limits.types import NOTHING, Amounts
from abacus.engage.offers.decide.grant import Taken, TakerPlace, Uses

_TABLE: Final = """
pragma journal_mode = off;
pragma synchronous = off;
pragma cache_size = -32000;
create table taker (
    member_id text primary key, runs integer, points integer, cost integer,
    day text, day_runs integer, day_points integer, day_cost integer
) without rowid;
"""
_LOAD: Final = "select runs, points, cost, day, day_runs, day_points, day_cost from taker where member_id = ?"
_SAVE: Final = "insert or replace into taker values (?, ?, ?, ?, ?, ?, ?, ?)"


class MostOfAMember(NamedTuple):
    """How many members got something, and the most that a member got: uses, money in millionths, and points."""

    members: int
    uses: int
    cost: int
    points: int


class Takers:
    """What members have taken of one offer. Days come one after the other: of each member the last is kept."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.executescript(_TABLE)

    def uses(self, places: Iterable[TakerPlace]) -> Mapping[TakerPlace, Uses]:
        return {place: self._uses(place) for place in places}

    def add(self, taken: Iterable[Taken]) -> None:
        for each in taken:
            before = self._uses(each.place)
            ever, that_day = before.ever.plus(each.amounts), before.that_day.plus(each.amounts)
            self._connection.execute(_SAVE, (each.member_id, *ever, each.day.isoformat(), *that_day))

    def most(self) -> MostOfAMember:
        look = "select count(*), coalesce(max(runs), 0), coalesce(max(cost), 0), coalesce(max(points), 0) from taker"
        return MostOfAMember(*self._connection.execute(look).fetchone())

    def _uses(self, place: TakerPlace) -> Uses:
        row = self._connection.execute(_LOAD, (place.member_id,)).fetchone()
        if row is None:
            return Uses()
        return Uses(Amounts(*row[:3]), Amounts(*row[4:]) if row[3] == place.day.isoformat() else NOTHING)


@contextmanager
def takers() -> Iterator[Takers]:
    with (
        TemporaryDirectory(prefix="abacus-backtest-") as directory,
        closing(sqlite3.connect(f"{directory}/takers", isolation_level=None)) as connection,
    ):
        yield Takers(connection)
