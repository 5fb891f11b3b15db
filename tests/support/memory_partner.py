"""A partner in memory, which keeps the contract. What it says may be lost, and it may be told what to say."""

from collections.abc import Callable, Sequence
from datetime import date
from uuid import UUID

from abacus.exchanges.decide.heard import (
    Cancelled,
    Credited,
    Heard,
    NotKnown,
    NotTakenBack,
    OtherFacts,
    Pending,
    Rejected,
    Silence,
    TakenBack,
)
from abacus.exchanges.types import Account, Match, PartnerStatement, Transfer


class MemoryPartner:
    """`PartnerPort`. `loses` says of which calls, by the name of the method, the answer is lost."""

    def __init__(self) -> None:
        self.books: dict[UUID, Heard] = {}
        self.transfers: dict[UUID, Transfer] = {}
        self.asked: list[str] = []
        self.loses: Callable[[str], bool] = lambda _: False
        self.decides: Callable[[Transfer], Heard] = lambda transfer: Credited(transfer.amount, "ref")
        self.takes_back = True

    @property
    def credited(self) -> int:
        """The miles of all members."""
        return sum(each.amount for each in self.books.values() if isinstance(each, Credited))

    async def put(self, transfer: Transfer) -> Heard:
        first = self.transfers.setdefault(transfer.exchange_id, transfer)
        known = self.books.get(transfer.exchange_id)
        if known is None or isinstance(known, Pending):
            known = self.books[transfer.exchange_id] = self.decides(transfer)
        return self._said("put", known if first == transfer or isinstance(known, Cancelled) else OtherFacts())

    async def get(self, exchange_id: UUID) -> Heard:
        return self._said("get", self.books.get(exchange_id, NotKnown()))

    async def cancel(self, exchange_id: UUID) -> Heard:
        known = self.books.get(exchange_id)
        if known is None or isinstance(known, Pending):
            known = self.books[exchange_id] = Cancelled()
        return self._said("cancel", known)

    async def reverse(self, exchange_id: UUID) -> Heard:
        known = self.books.get(exchange_id, NotKnown())
        if isinstance(known, Credited):
            known = NotTakenBack("spent")
            if self.takes_back:
                known = self.books[exchange_id] = TakenBack()
        return self._said("reverse", known)

    async def verify(self, account: Account) -> Match:
        return Match.MATCH if account.number else Match.NONE

    async def statement(self, day: date) -> PartnerStatement:
        return PartnerStatement(day, complete=True, lines=())

    def _said(self, method: str, heard: Heard) -> Heard:
        self.asked.append(method)
        return Silence("no answer") if self.loses(method) else heard


def refuses(type_: str) -> Callable[[Transfer], Heard]:
    return lambda _: Rejected(type_, "the account is closed")


def says(heard: Sequence[Heard]) -> Callable[[Transfer], Heard]:
    """One after the other."""
    left = iter(heard)
    return lambda _: next(left)
