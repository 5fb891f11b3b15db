"""The one gate where a duplicate is recognised: awards, movements, imports and expiries all pass it. Pure.

A key belongs to the facts that it was first used for. The same key with the same facts is a duplicate and changes
nothing; with other facts it is a conflict, and the first one stands.
"""

from collections.abc import Mapping
from typing import Generic, NamedTuple, Protocol, TypeVar

from abacus.ledger.types.port import Status


class Keyed(Protocol):
    """The first use of a key: a posting or a rejection, with the fingerprint of its facts."""

    @property
    def fingerprint(self) -> str: ...


First = TypeVar("First", bound=Keyed)


class Earlier(NamedTuple, Generic[First]):
    """The first use of a key, and whether its facts are the same."""

    first: First
    same_facts: bool

    @property
    def status(self) -> Status:
        return Status.DUPLICATE if self.same_facts else Status.CONFLICT


class Gate(Generic[First]):
    """The keys that were used before a batch, or by the batch itself so far."""

    def __init__(self, before: Mapping[str, First]) -> None:
        self._before = before
        self.entered: dict[str, First] = {}

    def first(self, key: str) -> First | None:
        """The first use of the key, whatever for; None where the key is new."""
        return self._before.get(key) or self.entered.get(key)

    def earlier(self, key: str, fingerprint: str) -> Earlier[First] | None:
        """The first use of the key; None where the key is new."""
        first = self.first(key)
        return None if first is None else Earlier(first, first.fingerprint == fingerprint)

    def enter(self, key: str, first: First) -> None:
        """The key is used now."""
        self.entered[key] = first
