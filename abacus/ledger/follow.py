"""Following one account from its first transfer to its last: what it must hold after each, and what is wrong. Pure.

What posting keeps for an account, this works out a second time from nothing but the transfers. Whatever an account
comes to hold more, it is followed here: a field of `Follower`, moved by `follow` and compared in `finish`.
"""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Final

import orjson

from abacus.ledger.award import Kind
from abacus.ledger.transfer import NO_HASH, Account, AccountId, Transfer, chain

# Says what is wrong with a transfer's explanation, or nothing.
Recompute = Callable[[Transfer], str | None]

_EARN: Final = str(Kind.EARN)
_HOLDING: Final = frozenset(
    {"hold", "release", "spend"}
)  # their explanations say how many points more are held, or less


class Follower:
    """Begins before the first transfer. After a fault it goes on from what is recorded, so that one is told once."""

    __slots__ = ("_account", "_balance", "_earned", "_expires_on", "_hash", "_held", "_recompute", "_seq", "id")

    def __init__(self, id_: AccountId, account: Account | None, recompute: Recompute) -> None:
        self.id = id_
        self._account = account
        self._recompute = recompute
        self._seq = self._balance = self._held = self._earned = 0
        self._hash = NO_HASH
        self._expires_on: date | None = None

    @property
    def seq(self) -> int:
        """Of the last transfer that was followed."""
        return self._seq

    def follow(self, transfer: Transfer) -> list[str]:
        """What is wrong with the next transfer."""
        faults: list[str] = []
        points, balance = transfer.points, transfer.balance_after
        if self._account is None:
            faults.append("has no account")
        if transfer.seq != self._seq + 1:
            faults.append(f"follows #{self._seq}: {transfer.seq - self._seq - 1} missing before it")
        if balance != self._balance + points:
            faults.append(f"balance_after is {balance}, not {self._balance} + {points}")
        if transfer.hash != chain(self._hash, transfer[:-1]):
            faults.append("the hash does not match the row and the one before it")
        wrong = self._recompute(transfer)
        if wrong is not None:
            faults.append(wrong)
        self._seq = transfer.seq
        self._balance = balance
        if transfer.kind == _EARN:
            self._earned += points
        elif transfer.kind in _HOLDING:
            self._held += _held_by(transfer)
        self._expires_on = transfer.expires_on
        self._hash = transfer.hash
        return faults

    def finish(self) -> Iterator[str]:
        """What is wrong with the account, after its last transfer."""
        account = self._account
        if account is None:
            return
        for name, recorded, followed in (
            ("last_seq", account.last_seq, self._seq),
            ("balance", account.balance, self._balance),
            ("held", account.held, self._held),
            ("expires_on", account.expires_on, self._expires_on),
            ("earned_total", account.earned_total, self._earned),
            ("head_hash", account.head_hash.hex(), self._hash.hex()),
        ):
            if recorded != followed:
                yield f"the account's {name} is {recorded}, its transfers come to {followed}"


def _held_by(transfer: Transfer) -> int:
    """What the explanation says; recomputing it tells what is wrong with one that says nothing."""
    try:
        held = orjson.loads(transfer.explanation).get("held", 0)
    except (ValueError, AttributeError):
        return 0
    return held if isinstance(held, int) else 0
