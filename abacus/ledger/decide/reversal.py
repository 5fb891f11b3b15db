"""Reversals: the share of a transfer to take back, and how to take points that are not there any more. Pure.

All refunds of a transaction together take back exactly the points that it earned: each takes the share that is due of
the whole amount refunded so far, rounded down, less the points of the refunds before it; the last takes the rest. So do
refunds of a purchase that points paid, which give points back.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import NamedTuple

from abacus.core.errors import Reason, SetAside
from abacus.core.points import money, plain
from abacus.ledger.decide.account_with_lots import AccountWithLots, Change, Entry, put_back, take
from abacus.ledger.decide.pending import pending_at, without
from abacus.ledger.types.kinds import KINDS, REVERSIBLE, Effect, TransferKind
from abacus.ledger.types.movement import Decline, Declined, Refund, Reversal, SecondPersonNeeded
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.card import OnShortfall
from abacus.pricing.decide.point_value import GivenBack, MixedPayment, given_back
from abacus.pricing.explanation.text import read, text_of
from abacus.pricing.explanation.types import Calculated, Reversed, Spent


class Earlier(NamedTuple):
    """A reversal of the same transfer, before this one."""

    due: int
    expired: int
    amount: Decimal

    @classmethod
    def of(cls, transfer: Transfer) -> "Earlier":
        """Raises `SetAside` for a transfer whose explanation is not a reversal's."""
        explanation = read(transfer.explanation)
        if not isinstance(explanation, Reversed):
            raise SetAside(Reason.INVALID, f"{transfer.key} does not explain what it took back")
        return cls(explanation.due, explanation.expired, money(explanation.amount or "0"))


class Original(NamedTuple):
    """The transfer to be taken back, and, read under the lock of its account, how many points are left in its own lot
    and how many of them lapsed. `good_until` is the last day on which a point was good that the transfer took.
    """

    transfer: Transfer
    left: int = 0
    lapsed: int = 0
    reversals: Sequence[Transfer] = ()
    good_until: date | None = None

    @property
    def earlier(self) -> list[Earlier]:
        """The reversals before this one. Raises `SetAside` for an explanation that cannot be read."""
        return [Earlier.of(each) for each in self.reversals]

    @property
    def due_before(self) -> int:
        return sum(each.due for each in self.earlier)


def reverse(before: AccountWithLots, original: Original | None, reversal: Reversal, now: datetime) -> Change:
    """Raises `Declined` for a transfer that cannot be taken back, `SetAside` for a refund that contradicts it."""
    if original is None:
        raise Declined(Decline.NOT_REVERSIBLE, f"no transfer of this account has the key {reversal.reverses}")
    transfer = original.transfer
    if transfer.kind not in REVERSIBLE:
        raise Declined(Decline.NOT_REVERSIBLE, f"a transfer of kind {transfer.kind} cannot be taken back")
    if transfer.kind == TransferKind.EXCHANGE_OUT and reversal.source != transfer.source:
        raise Declined(Decline.NOT_REVERSIBLE, "points that left by an exchange come back when its partner debits")
    gave = transfer.points >= 0 and KINDS[transfer.kind].points is not Effect.TAKES
    return (_take_back if gave else _give_back)(before, original, reversal, now)


def _take_back(before: AccountWithLots, original: Original, reversal: Reversal, now: datetime) -> Change:
    """Points that did not vest yet are there to be taken, whatever else is held or spent."""
    due = _due(original, reversal)
    transfer = original.transfer
    pending = min(due, pending_at(before.account, transfer.vests_at))
    account = without(before.account, transfer.vests_at, pending)
    before = before._replace(account=account)
    may_take = due if reversal.on_shortfall is OnShortfall.NEGATIVE else max(0, account.available)
    own = min(due, original.left, may_take)
    expired = min(due - min(due, original.left), original.lapsed - sum(each.expired for each in original.earlier))
    others = min(due - own - expired, may_take - own)
    explanation = replace(
        _explained(original, reversal, -(own + others), due),
        own_lot=own,
        expired=expired,
        on_shortfall=reversal.on_shortfall,
        clipped=due - expired - own - others,
    )
    by_name = {transfer.seq: own} if own else {}
    entry = _entry(original, reversal, explanation, now)
    if pending:
        entry = entry._replace(vests_on=transfer.vests_on, vests_at=transfer.vests_at)
    return take(before, own + others, entry, by_name=by_name)


def _give_back(before: AccountWithLots, original: Original, reversal: Reversal, now: datetime) -> Change:
    due = _due(original, reversal)
    entry = _entry(original, reversal, _explained(original, reversal, due, due), now)
    return put_back(before, due, original.good_until or reversal.expires_on, entry)


def _due(original: Original, reversal: Reversal) -> int:
    due = left_of(original, reversal)
    if reversal.alone is not None and original.due_before + due > reversal.alone:
        detail = f"{due} points; more than {reversal.alone} of one transfer take a second person"
        raise SecondPersonNeeded(due, detail)
    return due


def left_of(original: Original, reversal: Reversal) -> int:
    """The points of the transfer that are due. Raises `Declined` where fewer are left."""
    points, before = abs(original.transfer.points), original.due_before
    match reversal.part:
        case Refund() as refund:
            return max(0, _share(original, refund, reversal.country) - before)
        case None:
            if points and before >= points:
                raise Declined(Decline.REVERSED_ALREADY, f"all {points} points were taken back before")
            return points - before
        case int() as part:
            if part > points - before:
                raise Declined(Decline.REVERSED_ALREADY, f"{part} points; {points - before} of {points} are left")
            return part


def _share(original: Original, refund: Refund, country: str) -> int:
    """The points due for the whole amount refunded so far. Raises `SetAside` for a refund that contradicts its
    transaction. What the transaction was for, its vertical and payment type, is not asked again: its own share counts.
    """
    points, (amount, currency) = abs(original.transfer.points), amount_of(original.transfer)
    if country != original.transfer.country:
        raise SetAside(Reason.INVALID, f"country {country}; the transaction was in {original.transfer.country}")
    if refund.currency != currency:
        raise SetAside(Reason.UNKNOWN_CURRENCY, f"currency {refund.currency}; the transaction was in {currency}")
    if (back := _given_back(original, refund)) is not None:
        return points - back.points_left
    refunded = sum((each.amount for each in original.earlier), refund.amount)
    if refunded >= money(amount):
        return points
    return floor(points * Fraction(refunded) / Fraction(money(amount)))


def amount_of(transfer: Transfer) -> tuple[str, str]:
    """The amount of which a refund is a part, and its currency: of what earned the points, or of what they paid for.
    Raises `SetAside` where there is none.
    """
    match read(transfer.explanation):
        case Calculated(amount=amount, currency=currency):
            return amount, currency
        case Spent(money=str(paid), currency=str(currency), price=price):
            return price or paid, currency
        case _:
            raise SetAside(Reason.INVALID, f"{transfer.key} names no amount, so a refund has no share of it")


def _given_back(original: Original, refund: Refund) -> GivenBack | None:
    """What a refund gives back of a purchase that points paid, and perhaps other money; None of anything else."""
    paid = read(original.transfer.explanation)
    if not isinstance(paid, Spent) or paid.money is None:
        return None
    payment = MixedPayment(money(paid.price or paid.money), abs(original.transfer.points), money(paid.money))
    return given_back(payment, refund.amount, sum((each.amount for each in original.earlier), Decimal(0)))


def _explained(original: Original, reversal: Reversal, points: int, due: int) -> Reversed:
    """The explanation's fields that are the same whether points are taken or given back."""
    transfer, refund = original.transfer, reversal.part if isinstance(reversal.part, Refund) else None
    back = _given_back(original, refund) if refund else None
    return Reversed(
        points=points,
        of=transfer.key,
        of_kind=transfer.kind,
        earned=transfer.points,
        occurred_at=transfer.occurred_at,
        card=reversal.card,
        due=due,
        amount=plain(refund.amount) if refund else None,
        currency=refund.currency if refund else None,
        of_amount=amount_of(transfer)[0] if refund else None,
        reason=reversal.reason,
        approved_by=reversal.approved_by,
        own_lot=0,
        expired=0,
        clipped=0,
        money=plain(back.money) if back else None,
        points_left=abs(transfer.points) - original.due_before - due if back else None,
        money_left=plain(back.money_left) if back else None,
    )


def _entry(original: Original, reversal: Reversal, explanation: Reversed, now: datetime) -> Entry:
    """It names the transfer by the transfer's own key, whichever of its keys the reversal was requested by."""
    return Entry(
        TransferKind.REVERSE,
        reversal.key,
        text_of(explanation),
        reversal.occurred_at,
        now,
        reversal.source,
        reverses=original.transfer.key,
        actor=reversal.actor,
    )
