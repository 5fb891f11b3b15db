"""Awards that somebody asked for, held against the ledger: partners' requests, and what campaigns have sent.

The ledger may be cut, and who asks may lie on another server. So they are read a page at a time, and each page is
looked up in the ledger by its keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from abacus.oversight.reconcile.decide.lines import AskGroup
from abacus.oversight.reconcile.decide.verdict import FAULTS, OTHER, SAME, Ask, Queues, Verdict, verdict_of_ask
from abacus.oversight.reconcile.messages import long_pages
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, array, column, row_of

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


@dataclass(slots=True)
class Outcomes:
    """The outcomes of awards that were asked for: counted, and one by one where there is a fault."""

    queues: Queues
    counts: dict[tuple[str, Ask], list[int]] = field(default_factory=dict)
    faulty: list[tuple[Asked, Verdict]] = field(default_factory=list)
    differing: list[tuple[Asked, int]] = field(default_factory=list)  # posted with these points, decided with others

    @property
    def groups(self) -> list[AskGroup]:
        return [AskGroup(by, ask, awards, points) for (by, ask), (awards, points) in self.counts.items()]

    async def add(self, connection: Connection, page: Sequence[Asked]) -> None:
        """Adds awards with what the ledger has under their keys. In a transaction."""
        rows = await slices.rows_on(connection, _POSTED(keys=column(each.key for each in page)))
        posted = {row["key"]: Posted(*row) for row in rows}
        for each in page:
            self._add(each, posted.get(each.key))

    def _add(self, asked: Asked, posted: Posted | None) -> None:
        if posted is None and asked.fingerprint is None:
            return
        ask = _ask(asked, posted)
        count = self.counts.setdefault((asked.by, ask), [0, 0])
        count[0] += 1
        count[1] += posted.points if posted is not None else 0
        verdict = verdict_of_ask(ask, self.queues)
        if verdict in FAULTS:
            self.faulty.append((asked, verdict))
        if posted is not None and asked.decided not in {None, posted.points}:
            self.differing.append((asked, posted.points))


async def outcomes_of_partners(connection: Connection, statement: tuple[Any, ...], queues: Queues) -> Outcomes:
    """The outcomes of the awards that a statement gives as `Asked`, and whether the ledger rejected them. In a
    transaction.
    """
    outcomes = Outcomes(queues)
    async for page in long_pages(connection, statement):
        asked = [row_of(Asked, row) for row in page]
        rows = await slices.rows_on(connection, _REJECTED(keys=column(each.key for each in asked)))
        rejected = {tuple(row) for row in rows}
        await outcomes.add(
            connection, [each._replace(rejected=(each.key, each.fingerprint) in rejected) for each in asked]
        )
    return outcomes


def _ask(asked: Asked, posted: Posted | None) -> Ask:
    found = None
    if posted is not None:
        found = SAME if asked.fingerprint in {None, posted.fingerprint} else OTHER
    return Ask(asked.queued, found, asked.doubled, asked.rejected, asked.held, asked.settled, asked.overdue)
