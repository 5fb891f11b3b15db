"""The ledgers of a simulation: in memory for many seeds, on Postgres for faults that only real rows show."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple, Protocol

from abacus.core.clock import Clock
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Limits
from abacus.ledger.types.movement import Moved, Movement
from abacus.ledger.types.port import AwardOutcome, Claim
from abacus.ledger.types.transfer import Transfer
from tests.support.memory_ledger import MemoryLedger

PARTNER: Final = "acme"  # the only one that is registered


class Books(NamedTuple):
    """Everything in a ledger; the transfers of each account stand in their order."""

    claims: Mapping[str, Claim]
    accounts: Mapping[AccountId, Account]
    transfers: Sequence[Transfer]


class SimulatedLedger(Protocol):
    """`LedgerPort`, `MovesPort` and `Postings`, and a look inside. Nobody else runs while it does something."""

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]: ...

    async def move(self, movements: Sequence[Movement]) -> list[Moved]: ...

    async def claims_in_reach(self, keys: Collection[str]) -> Mapping[str, Claim]: ...

    def books(self) -> Books: ...

    def unpublished(self) -> int:
        """How many transfers the relay has not published yet."""
        ...


class LedgerInMemory(MemoryLedger):
    """The same decisions over dictionaries. No relay publishes what is posted there."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.allowances[PARTNER] = Allowance(Limits(), 0, date.min, 0)

    async def claims_in_reach(self, keys: Collection[str]) -> Mapping[str, Claim]:
        return {key: self.claims[key] for key in keys if key in self.claims}

    def books(self) -> Books:
        return Books(self.claims, self.accounts, self.transfers)

    def unpublished(self) -> int:
        return 0
