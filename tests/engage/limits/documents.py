"""Documents of two kinds with limits, and runs that take from their pots."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.engage.limits.decide.pots import AtHand, Limited, Pot, Short, limited_by, pots_of
from abacus.engage.limits.pot_store import PotStore
from abacus.engage.limits.types import UNBOUND, Amounts, Bound, Limits, Owner
from abacus.platform.postgres import Connection
from abacus.platform.slices import Slice

NOW: Final = datetime(2026, 1, 10, 12, tzinfo=UTC)
ONE: Final = Amounts(runs=1, points=10)


class Document(NamedTuple):
    """A document of a kind, with this many runs in all and on each day."""

    kind: str
    name: str
    runs: int
    per_day: int | None = None
    version: int = 1
    least_points: int = 10
    zone: ZoneInfo = ZoneInfo("UTC")

    @property
    def owner(self) -> Owner:
        return Owner(self.kind, self.name)

    @property
    def limits(self) -> Limits:
        return Limits(Bound(self.runs), UNBOUND if self.per_day is None else Bound(self.per_day))


async def nothing_before(_: Connection, __: Sequence[Pot]) -> Mapping[Pot, Amounts]:
    """Of owners that did nothing before they had a limit."""
    return {}


async def take(slice_: Slice, pots: PotStore, documents: Sequence[Document]) -> list[bool]:
    """One run of each document, in one transaction of a slice; False where a limit stands against the run."""
    limited: dict[Pot, Limited] = {}
    for each in documents:
        limited |= limited_by(each, NOW)

    async def work(connection: Connection, whole: Collection[Pot]) -> list[bool]:
        locked = await pots.lock(connection, limited, whole)
        at_hand, given = AtHand(locked.left, {*whole, *locked.remembered}), list[bool]()
        for each in documents:
            bounds = pots_of(each, NOW)
            given.append(at_hand.lacking(bounds, ONE) is None)
            if given[-1]:
                at_hand.take(bounds, ONE)
        if needs := at_hand.needs():
            raise Short(needs)
        await pots.take(connection, locked, at_hand.taken)
        return given

    return await pots.within(slice_, lambda: limited, work)
