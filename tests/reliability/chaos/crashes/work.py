"""The work that a trial gives a worker: ordinary, doubled and bad messages, some that come back, some that wait."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from abacus.core.errors import Reason
from abacus.core.ids import expiry_key, refund_key
from abacus.ledger.types.award_envelope import Award
from abacus.programs.expiry.decide.month import Month
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.due import Due
from tests.reliability.chaos.crashes.facts import award_of, body_of, message_of, paid
from tests.reliability.chaos.crashes.lane import Lane


class Work(ABC):
    """One piece of work in a lane, under a mark that no other has."""

    worker: ClassVar[str]
    name: ClassVar[str]
    passes: ClassVar[frozenset[Stage]]  # a run in which it does not pass these is refused
    paces: ClassVar[Mapping[str, float]] = {}  # numbers of the worker that may be killed: "module:NAME" of a constant

    def __init__(self, lane: Lane, mark: str) -> None:
        self.lane = lane
        self.mark = mark
        self.due = Due(mark)

    @abstractmethod
    async def lay_out(self) -> None:
        """Put the work where the worker reads it."""

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        """A block around the life of the worker that may be killed: a hindrance stands in its way only at first."""
        yield

    async def follow_up(self) -> None:  # noqa: B027  # for most works nothing follows
        """Lay out the work that comes only after that worker has ended."""

    @abstractmethod
    async def is_done(self) -> bool:
        """Whether the worker is done with the work that was laid out."""

    async def is_through(self) -> bool:
        """Whether nothing is on its way that is no transfer."""
        return True

    async def more_faults(self) -> list[str]:
        """Further faults, once everything is through."""
        return []

    async def earlier(self, who: str, number: int, **changes: Any) -> dict[str, Any]:
        """A transaction that was posted long ago."""
        facts = paid(self.mark, who, number, **changes)
        await self.post(award_of(self.lane.book, facts))
        return facts

    async def post(self, *awards: Award) -> None:
        await self.lane.ledger.post(awards)
        for award in awards:
            self.due.post(award.member_id, award.key, award.points)

    async def produce(self, *transactions: dict[str, Any] | bytes) -> None:
        await self.lane.produce(map(message_of, transactions))

    def earns(self, *transactions: dict[str, Any]) -> list[Award]:
        """Their awards are due, once each."""
        awards = [award_of(self.lane.book, facts) for facts in transactions]
        for award in awards:
            self.due.post(award.member_id, award.key, award.points)
        return awards

    def takes_back(self, refund: dict[str, Any], original: dict[str, Any], *, less: int = 0) -> None:
        points = award_of(self.lane.book, original).points - less
        self.due.post(refund["member_id"], refund_key(refund["source"], refund["refund_id"]), -points)

    def lapses(self, transaction: dict[str, Any], month: Month) -> int:
        """The transaction's points lapse with the month; how many."""
        points = award_of(self.lane.book, transaction).points
        self.due.post(transaction["member_id"], expiry_key(str(month)), -points)
        return points

    def is_bad(self, reason: Reason, *transactions: dict[str, Any] | bytes) -> None:
        for each in transactions:
            self.due.hold(reason, each if isinstance(each, bytes) else body_of(each))
