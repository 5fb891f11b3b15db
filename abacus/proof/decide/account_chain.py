"""Following one account from its first transfer to its last: its state after each, and its faults. Pure.

Each field that posting keeps of an account is worked out a second time here, from nothing but the transfers. A new
field of an account needs a field of `Follower`, moved by `follow` and compared in `finish`.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.errors import SetAside
from abacus.ledger.decide.chain import UnknownFormat, chain
from abacus.ledger.decide.lots import Lot, first_day, open_lots
from abacus.ledger.decide.pending import portions
from abacus.ledger.types.account import NO_HASH, Account, AccountId
from abacus.ledger.types.kinds import AWARDED, TransferKind
from abacus.ledger.types.movement import Hold
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import (
    Calculated,
    Captured,
    ExchangedIn,
    ExchangedOut,
    Explanation,
    Fixed,
    Held,
    LapsedByLots,
    Released,
    Reversed,
)
from abacus.proof.decide.holds import Holds

# The fault of a transfer's explanation, or None.
Recompute = Callable[[Transfer], str | None]

_CLOCKS_APART: Final = timedelta(minutes=5)


class Drawn(NamedTuple):
    """The points that the transfer `seq` took from a lot by name, with the key of that lot's transfer."""

    lot_seq: int
    seq: int
    points: int
    lot_key: str | None


class Follower:
    """Begins before the first transfer. After a fault it goes on from the recorded values: each is told once."""

    __slots__ = (
        "_account",
        "_active_until",
        "_balance",
        "_closed",
        "_countries",
        "_drawn",
        "_earned",
        "_expires_on",
        "_hash",
        "_held",
        "_holds",
        "_lapsed_seq",
        "_lifetime",
        "_lots",
        "_opened_at",
        "_pending",
        "_posted_at",
        "_recompute",
        "_seq",
        "_taken",
        "id",
    )

    def __init__(
        self,
        id_: AccountId,
        account: Account | None,
        recompute: Recompute,
        drawn: Sequence[Drawn] = (),
        holds: Sequence[Hold] = (),
    ) -> None:
        self.id = id_
        self._account = account
        self._recompute = recompute
        self._drawn = drawn
        self._holds = Holds(holds)
        self._opened_at: datetime | None = None
        self._countries: set[str] = set()  # of the transfers with which the account was opened
        self._seq = self._balance = self._held = self._earned = self._lapsed_seq = 0
        self._closed = 0  # the points of the lots up to the account's cursor
        self._taken = 0  # the points that left the account
        self._lots: list[Lot] = []  # the lots after the cursor, where each lapses by itself
        self._hash = NO_HASH
        self._expires_on: date | None = None
        self._active_until: date | None = None
        self._lifetime = account is not None and account.lifetime
        self._pending: dict[int, int] = {}  # the points that vest later, by the second
        self._posted_at: datetime | None = None

    @property
    def seq(self) -> int:
        """The `seq` of the last transfer that was followed."""
        return self._seq

    def follow(self, transfer: Transfer) -> list[str]:
        """The faults of the next transfer."""
        faults: list[str] = []
        points, balance = transfer.points, transfer.balance_after
        if self._account is None:
            faults.append("has no account")
        if transfer.seq != self._seq + 1:
            faults.append(f"follows #{self._seq}: {transfer.seq - self._seq - 1} missing before it")
        if balance != self._balance + points:
            faults.append(f"balance_after is {balance}, not {self._balance} + {points}")
        try:
            if transfer.hash != chain(self._hash, transfer[:-1]):
                faults.append("the hash does not match the row and the one before it")
        except UnknownFormat as error:
            faults.append(str(error))
        wrong = self._recompute(transfer)
        if wrong is not None:
            faults.append(wrong)
        self._follow_opening(transfer)
        self._seq = transfer.seq
        self._balance = balance
        if transfer.kind in AWARDED:
            self._earned += points
        else:
            faults += self._follow_movement(transfer)
        if points > 0:
            self._follow_lot(transfer)
        else:
            self._taken -= points
        faults += self._follow_day(transfer)
        if transfer.vests_at is not None:
            self._follow_vesting(transfer, transfer.vests_at)
        self._posted_at = transfer.posted_at
        self._hash = transfer.hash
        return faults

    def finish(self) -> Iterator[str]:
        """The faults of the account's row, after its last transfer."""
        account = self._account
        if account is None:
            return
        for name, recorded, followed in (
            ("last_seq", account.last_seq, self._seq),
            ("balance", account.balance, self._balance),
            ("held", account.held, self._held),
            ("expires_on", account.expires_on, self._day()),
            ("active_until", account.active_until, self._active_until),
            ("lifetime", account.lifetime, self._lifetime),
            ("earned_total", account.earned_total, self._earned),
            ("lapsed_seq", account.lapsed_seq, self._lapsed_seq),
            ("lots_drawn", account.lots_drawn, self._drawn_oldest_first()),
            ("head_hash", account.head_hash.hex(), self._hash.hex()),
        ):
            if recorded != followed:
                yield f"the account's {name} is {recorded}, its transfers come to {followed}"
        if self._countries and account.country not in self._countries:
            yield f"the account's country is {account.country}, it was opened in {', '.join(sorted(self._countries))}"
        yield from self._finish_vesting(account)
        yield from self._holds.finish(account.held)

    def _follow_opening(self, transfer: Transfer) -> None:
        if self._opened_at is None:
            self._opened_at = transfer.posted_at
        if transfer.posted_at == self._opened_at:
            self._countries.add(transfer.country)

    def _follow_movement(self, transfer: Transfer) -> Iterator[str]:
        """A transfer that is no award. A fault of an unreadable explanation is told by recomputing it."""
        try:
            explanation = read(transfer.explanation)
        except SetAside:
            return
        if isinstance(explanation, Held | Captured | ExchangedOut | Released):
            self._held += explanation.held
            yield from self._holds.follow(transfer, explanation)
        expected = _expected_draws(explanation)
        if transfer.kind == TransferKind.EXPIRE:
            self._lapsed_seq = transfer.seq
        drawn = {
            each.lot_key if transfer.kind == TransferKind.REVERSE else each.lot_seq: each.points
            for each in self._drawn
            if each.seq == transfer.seq
        }
        if drawn != expected:
            yield f"its draws from lots are {drawn}, it explains {expected}"

    def _follow_day(self, transfer: Transfer) -> Iterator[str]:
        """By activity each transfer names the account's day, which never goes back; by lots only transactions move it.
        Transfers from before format 3 do not say by which, and some of them forgot a later day.
        """
        day, latest = transfer.expires_on, self._active_until
        self._expires_on = day
        if transfer.lifetime is not None:
            self._lifetime = transfer.lifetime
        if day is None or (transfer.lifetime and not self._is_activity(transfer)):
            return
        if latest is None or day > latest:
            self._active_until = day
        elif day < latest and transfer.lifetime is False:
            yield f"its day is {day}, but the account's points were good until {latest} before"

    def _follow_vesting(self, transfer: Transfer, vests_at: datetime) -> None:
        """An award's points are pending until then, and a reversal takes its own from them."""
        begins = int(vests_at.timestamp())
        if transfer.kind != TransferKind.REVERSE:
            added = transfer.points if vests_at > transfer.posted_at else 0
        else:
            try:
                explanation = read(transfer.explanation)
            except SetAside:  # recomputing tells
                return
            added = -explanation.due if isinstance(explanation, Reversed) else 0
        self._pending[begins] = self._pending.get(begins, 0) + added

    def _finish_vesting(self, account: Account) -> Iterator[str]:
        """Points whose day has begun since may have left the account's pending points."""
        recorded = portions(account.vesting)
        over = 0.0 if self._posted_at is None else (self._posted_at + _CLOCKS_APART).timestamp()
        for begins in sorted(recorded.keys() | self._pending.keys()):
            points, followed = recorded.get(begins, 0), self._pending.get(begins, 0)
            if points != followed and (points or begins > over):
                moment = datetime.fromtimestamp(begins, UTC).isoformat()
                yield f"the account's points that vest at {moment} are {points}, its transfers come to {followed}"

    def _is_activity(self, transfer: Transfer) -> bool:
        """Whether it is a transaction's or an exchange's, and no gift. Where that cannot be read, which recomputing
        tells, the recorded day is believed.
        """
        try:
            return isinstance(read(transfer.explanation), Calculated | Fixed | ExchangedIn)
        except SetAside:
            self._active_until = self._account.active_until if self._account is not None else None
            return False

    def _follow_lot(self, transfer: Transfer) -> None:
        account = self._account
        if account is None:
            return
        if transfer.seq <= account.lots_closed:
            self._closed += transfer.points
        elif account.lifetime:
            drawn = sum(each.points for each in self._drawn if each.lot_seq == transfer.seq)
            occurred_at, day = transfer.occurred_at, transfer.expires_on
            self._lots.append(Lot(transfer.seq, transfer.key, transfer.points, drawn, occurred_at, day))

    def _day(self) -> date | None:
        """The account's expiry day: by activity the latest of all, unless its last transfer left it without one; by
        lots the first of them.
        """
        account = self._account
        if account is None or not account.lifetime:
            return self._active_until if self._expires_on is not None else None
        return first_day(open_lots(account, self._lots))

    def _drawn_oldest_first(self) -> int:
        """The points that left the account, less points taken by name, and less the lots up to the cursor."""
        closed = self._account.lots_closed if self._account is not None else 0
        by_name = sum(each.points for each in self._drawn)
        by_name_of_closed = sum(each.points for each in self._drawn if each.lot_seq <= closed)
        return self._taken - by_name - (self._closed - by_name_of_closed)


def _expected_draws(explanation: Explanation) -> dict[object, int]:
    """The points that a transfer took by name: from the lot of a key, or from lots of these numbers."""
    match explanation:
        case Reversed(of=key, own_lot=points) if points:
            return {key: points}
        case LapsedByLots(lots=lots):
            return dict(lots)
        case _:
            return {}
