"""The members of a backtest, in a file that is thrown away, so that any number of members takes the same memory."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping
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
_LOAD: Final = """
select t.* from taker t where t.member_id in (select value from json_each(?))
"""
_SAVE: Final = "insert or replace into taker values (?, ?, ?, ?, ?, ?, ?, ?)"


class _Row(NamedTuple):
    """What a member took ever, and on the last day."""

    ever: Amounts
    day: str
    that_day: Amounts

    def uses(self, day: str) -> Uses:
        return Uses(self.ever, self.that_day if day == self.day else NOTHING)


_NO_ROW: Final = _Row(NOTHING, "", NOTHING)


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
        connection.execute("begin")  # and no end: of a transaction for each row every page would be written

    def uses(self, places: Collection[TakerPlace]) -> Mapping[TakerPlace, Uses]:
        rows = self._rows({each.member_id for each in places})
        return {place: rows.get(place.member_id, _NO_ROW).uses(place.day.isoformat()) for place in places}

    def add(self, taken: Collection[Taken]) -> None:
        rows = self._rows({each.member_id for each in taken})
        for each in taken:
            day = each.day.isoformat()
            before = rows.get(each.member_id, _NO_ROW).uses(day)
            rows[each.member_id] = _Row(before.ever.plus(each.amounts), day, before.that_day.plus(each.amounts))
        self._connection.executemany(
            _SAVE, [(member_id, *row.ever, row.day, *row.that_day) for member_id, row in rows.items()]
        )

    def most(self) -> MostOfAMember:
        look = "select count(*), coalesce(max(runs), 0), coalesce(max(cost), 0), coalesce(max(points), 0) from taker"
        return MostOfAMember(*self._connection.execute(look).fetchone())

    def _rows(self, members: Collection[str]) -> dict[str, "_Row"]:
        found = self._connection.execute(_LOAD, (json.dumps([*members]),))
        return {row[0]: _Row(Amounts(*row[1:4]), row[4], Amounts(*row[5:])) for row in found}


@contextmanager
def takers() -> Iterator[Takers]:
    with (
        TemporaryDirectory(prefix="abacus-backtest-") as directory,
        closing(sqlite3.connect(f"{directory}/takers", isolation_level=None)) as connection,
    ):
        yield Takers(connection)
