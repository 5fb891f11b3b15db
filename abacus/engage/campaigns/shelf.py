"""The memory of a backtest: progress, claims and members in a file that is thrown away, so that any number of members
takes the same memory.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from typing import Final

from abacus.engage.campaigns.decide.progress import Progress, ProgressPlace
from abacus.engage.campaigns.decide.run import Run
from abacus.engage.campaigns.progress_rows import packed_marks, unpacked_marks
from abacus.engage.limits.types import Amounts

_TABLES: Final = """
pragma journal_mode = off;
pragma synchronous = off;
pragma cache_size = -32000;
create table claim (key text primary key) without rowid;
create table progress (
    member_id text, campaign text, scope text,
    events integer, runs integer, points integer, cost integer, marks blob, variant text,
    primary key (member_id, campaign, scope)
) without rowid;
create table given (member_id text primary key, runs integer, points integer) without rowid;
"""
_LOAD: Final = """
select events, runs, points, cost, marks, variant from progress where member_id = ? and campaign = ? and scope = ?
"""


class Shelf:
    """What a backtest has decided, for a campaign and the campaigns beside it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.executescript(_TABLES)

    def claimed(self, keys: Collection[str]) -> set[str]:
        """The keys whose events are decided."""
        look = "select exists(select 1 from claim where key = ?)"
        return {key for key in keys if self._connection.execute(look, (key,)).fetchone()[0]}

    def load(self, places: Iterable[ProgressPlace]) -> Mapping[ProgressPlace, Progress]:
        found = {}
        for place in places:
            row = self._connection.execute(_LOAD, place).fetchone()
            if row is not None:
                found[place] = Progress(row[0], Amounts(*row[1:4]), unpacked_marks(row[4]), row[5])
        return found

    def save(self, progress: Mapping[ProgressPlace, Progress], runs: Sequence[Run], name: str) -> None:
        """What came of events. Members are counted for the campaign of this name alone."""
        self._connection.executemany("insert into claim values (?)", [(run.matched.key,) for run in runs])
        rows = [
            (*place, each.events, *each.used, packed_marks(each.marks), each.variant)
            for place, each in progress.items()
        ]
        self._connection.executemany("insert or replace into progress values (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        given = [
            (run.matched.member_id, run.amounts.runs, run.amounts.points)
            for run in runs
            if run.amounts.runs and run.matched.campaign.name == name
        ]
        self._connection.executemany(
            "insert into given values (?, ?, ?) on conflict do update set runs = runs + excluded.runs,"
            " points = points + excluded.points",
            given,
        )

    def members(self) -> tuple[int, int]:
        """How many members were given something, and the most points that a member got."""
        row = self._connection.execute("select count(*), coalesce(max(points), 0) from given").fetchone()
        return row[0], row[1]


@contextmanager
def shelf() -> Iterator[Shelf]:
    with (
        TemporaryDirectory(prefix="abacus-backtest-") as directory,
        closing(sqlite3.connect(f"{directory}/shelf", isolation_level=None)) as connection,
    ):
        yield Shelf(connection)
