"""The members of a backtest, in a file that is thrown away, so that any number of members takes the same memory."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from abacus.engage.rewards.decide.saver import Saver

_TABLE: Final = """
pragma journal_mode = off;
pragma synchronous = off;
pragma cache_size = -32000;
create table saver (
    member_id text primary key, tier text, free integer, left integer, pieces integer, day text, that_day integer,
    could integer, others integer, takes integer, waits text
) without rowid;
create index saver_waits on saver (could, waits, member_id) where waits <> '';
"""
_LOAD: Final = "select * from saver where member_id in (select value from json_each(?))"
_SAVE: Final = "insert or replace into saver values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_WAITING: Final = """
select * from saver where could = ? and waits <> '' and (waits, member_id) > (?, ?) order by waits, member_id limit ?
"""
_SUMS: Final = """
select count(*) filter (where could), count(*) filter (where pieces > 0),
    count(*) filter (where could and takes and pieces = 0), count(*) filter (where others and not could),
    coalesce(max(pieces), 0)
from saver
"""


class Sums(NamedTuple):
    """How many members could have afforded a piece, had one, and would have taken one and had none; how many had the
    points for a reward that is for others; and the most pieces of a member.
    """

    could: int
    had: int
    without: int
    others: int
    most: int


class Savers:
    """Members by their ids; of a member that is not there nothing is known."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.executescript(_TABLE)
        connection.execute("begin")  # and no end: of a transaction for each row every page would be written

    def of(self, members: Collection[str]) -> Mapping[str, Saver]:
        found = self._connection.execute(_LOAD, (json.dumps([*members]),))
        return {row[0]: Saver(*row) for row in found}

    def save(self, savers: Collection[Saver]) -> None:
        self._connection.executemany(_SAVE, savers)

    def waiting(self, *, could: bool, after: Saver | None, most: int) -> Sequence[Saver]:
        """Who waits the longest first, or the next after one of them."""
        place = ("", "") if after is None else (after.waits, after.member_id)
        return [Saver(*row) for row in self._connection.execute(_WAITING, (could, *place, most))]

    def sums(self) -> Sums:
        return Sums(*self._connection.execute(_SUMS).fetchone())


@contextmanager
def savers() -> Iterator[Savers]:
    with (
        TemporaryDirectory(prefix="abacus-backtest-") as directory,
        closing(sqlite3.connect(f"{directory}/savers", isolation_level=None)) as connection,
    ):
        yield Savers(connection)
