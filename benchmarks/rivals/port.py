"""What the harness asks of a ledger, its own or another one, and the work that all are given."""

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple, Protocol

POINTS: Final = 180  # of each grant


class Grant(NamedTuple):
    """So many points to a member. Two-sided ledgers take them from an issuer."""

    number: int
    member: int
    issuer: int


class Work(NamedTuple):
    """The members and issuers among which grants are drawn; a call has the same grants whenever it is made."""

    members: int
    issuers: int

    def call(self, number: int, grants: int) -> list[Grant]:
        drawn = random.Random(number)
        return [
            Grant(number * grants + place, drawn.randrange(self.members), drawn.randrange(self.issuers))
            for place in range(grants)
        ]


class Sums(NamedTuple):
    """The points of a ledger, told in ways that have to agree. A one-sided ledger has no issuers."""

    members: int
    transfers: int
    issuers: int | None = None

    @property
    def agree(self) -> bool:
        return self.members == self.transfers and self.issuers in {None, -self.members}


class Ledger(Protocol):
    """A ledger with connections of this process."""

    async def post(self, grants: Sequence[Grant]) -> None:
        """Returns when the ledger has acknowledged them. One that it can tell to be there already is passed over."""

    async def counted(self) -> Counter[int]:
        """How many transfers there are of each grant, by its number."""

    async def sums(self) -> Sums: ...

    async def size(self) -> int | None:
        """Bytes on disk; None where the ledger does not tell."""


class Room(Protocol):
    """A ledger of a measurement's own, with members and issuers. It is handed to other processes."""

    def opened(self, connections: int) -> AbstractAsyncContextManager[Ledger]: ...


class Rival(Protocol):
    """A kind of ledger, and how it likes to be called."""

    @property
    def name(self) -> str: ...

    @property
    def accounts(self) -> int:
        """So many accounts are changed by a transfer."""

    @property
    def a_call(self) -> int:
        """So many grants go into a call."""

    @property
    def connections(self) -> int:
        """Of each process that posts."""

    def room(self, work: Work) -> AbstractAsyncContextManager[Room]: ...
