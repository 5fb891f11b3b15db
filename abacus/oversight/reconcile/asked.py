"""Awards that somebody asked for, held against the ledger: partners' requests, and what campaigns have sent.

The ledger may be cut, and who asks may lie on another server. So they are read a page at a time, and each page is
looked up in the ledger by its keys.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from abacus.oversight.reconcile.decide.lines import AskGroup
from abacus.oversight.reconcile.decide.verdict import FAULTS, OTHER, SAME, Ask, Queues, Verdict, verdict_of_ask
from abacus.oversight.reconcile.messages import long_pages
from abacus.platform import slices
from abacus.platform.postgres import Connection, array, column
from abacus.platform.sql import Statement, row_of

_POSTED: Final = Statement(f"""
select c.key, c.fingerprint, t.points
from claim c join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq
where c.key = any({array("keys", "text")})
""")
_REJECTED: Final = Statement(f"select key, fingerprint from rejection where key = any({array('keys', 'text')})")


class Asked(NamedTuple):
    """An award that was asked for. Of an erased member's only the points are kept, and it has no fingerprint: then it
    is the key's.
    """

    by: str
    member_id: str
    key: str
    fingerprint: str | None
    decided: int | None  # points, where they were named to us
    queued: bool
    doubled: bool
    rejected: bool
    held: str | None
    settled: bool
    overdue: bool


class Posted(NamedTuple):
    """A transfer, by its claim."""

    key: str
    fingerprint: str
    points: int


class Faulty(NamedTuple):
    """An award at fault."""

    asked: Asked
    verdict: Verdict


class DifferentAward(NamedTuple):
    """An award that stands in the ledger with other points than were decided."""

    asked: Asked
    points: int


@dataclass(slots=True)
class Outcomes:
    """The outcomes of all: counted, and one by one where there is a fault, in the order of the keys."""

    groups: list[AskGroup] = field(default_factory=list)
    faulty: list[Faulty] = field(default_factory=list)
    differing: list[DifferentAward] = field(default_factory=list)


async def asked_of_partners(connection: Connection, statement: tuple[Any, ...]) -> AsyncIterator[Sequence[Asked]]:
    """The awards that a statement gives as `Asked`, and which of them the ledger rejected. In a transaction."""
    async for page in long_pages(connection, statement):
        asked = [row_of(Asked, row) for row in page]
        rejected = await _rejected(connection, [each.key for each in asked])
        yield [each._replace(rejected=(each.key, each.fingerprint) in rejected) for each in asked]


async def outcomes(connection: Connection, pages: AsyncIterator[Sequence[Asked]], queues: Queues) -> Outcomes:
    """In a transaction."""
    told, counts = Outcomes(), dict[tuple[str, Ask], list[int]]()
    async for asked, posted in _looked_up(connection, pages):
        if posted is None and asked.fingerprint is None:
            continue
        ask = _ask(asked, posted)
        count = counts.setdefault((asked.by, ask), [0, 0])
        count[0] += 1
        count[1] += posted.points if posted is not None else 0
        verdict = verdict_of_ask(ask, queues)
        if verdict in FAULTS:
            told.faulty.append(Faulty(asked, verdict))
        if posted is not None and asked.decided not in {None, posted.points}:
            told.differing.append(DifferentAward(asked, posted.points))
    return _sorted(told, counts)


def together(parts: Iterable[Outcomes]) -> Outcomes:
    """The outcomes of several slices as one."""
    all_, counts = Outcomes(), dict[tuple[str, Ask], list[int]]()
    for part in parts:
        for group in part.groups:
            count = counts.setdefault((group.by, group.ask), [0, 0])
            count[0] += group.awards
            count[1] += group.points
        all_.faulty += part.faulty
        all_.differing += part.differing
    return _sorted(all_, counts)


def _sorted(told: Outcomes, counts: Mapping[tuple[str, Ask], Sequence[int]]) -> Outcomes:
    told.groups = [AskGroup(by, ask, awards, points) for (by, ask), (awards, points) in counts.items()]
    told.faulty.sort(key=lambda each: each.asked.key)
    told.differing.sort(key=lambda each: each.asked.key)
    return told


async def _looked_up(
    connection: Connection, pages: AsyncIterator[Sequence[Asked]]
) -> AsyncIterator[tuple[Asked, Posted | None]]:
    async for page in pages:
        posted = await _posted(connection, [each.key for each in page])
        for each in page:
            yield each, posted.get(each.key)


async def _rejected(connection: Connection, keys: Sequence[str]) -> set[tuple[str, str | None]]:
    """The keys and fingerprints of rejected awards."""
    return {tuple(row) for row in await slices.rows_on(connection, _REJECTED(keys=column(keys)))}


async def _posted(connection: Connection, keys: Sequence[str]) -> dict[str, Posted]:
    return {row["key"]: Posted(*row) for row in await slices.rows_on(connection, _POSTED(keys=column(keys)))}


def _ask(asked: Asked, posted: Posted | None) -> Ask:
    found = None
    if posted is not None:
        found = SAME if asked.fingerprint in {None, posted.fingerprint} else OTHER
    return Ask(asked.queued, found, asked.doubled, asked.rejected, asked.held, asked.settled, asked.overdue)
