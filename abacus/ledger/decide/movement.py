"""Moving points: which movements are new, and how each changes its account. Pure."""

from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, assert_never
from uuid import UUID

from abacus.core.errors import SetAside
from abacus.ledger.decide.account_with_lots import AccountWithLots, Change, Entry, put, take
from abacus.ledger.decide.allowance import NOBODY, BatchSpending, LimitUse
from abacus.ledger.decide.alone import MovedAlone
from abacus.ledger.decide.duplicates import Gate
from abacus.ledger.decide.lots import Draw
from abacus.ledger.decide.newcomers import NOBODY_REFUSED, check_newcomer
from abacus.ledger.decide.partner_spending import count
from abacus.ledger.decide.pending import vested
from abacus.ledger.decide.reversal import Original, reverse
from abacus.ledger.decide.spend import capture, check_available, release, reserve, spend
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import (
    Adjustment,
    Capture,
    Declined,
    Hold,
    Moved,
    Movement,
    Release,
    Reserve,
    Reversal,
    Spend,
)
from abacus.ledger.types.port import Claim, Status
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Adjusted


def adjust(before: AccountWithLots, adjustment: Adjustment, now: datetime) -> Change:
    """Raises `Declined` when the adjustment takes more points than are available."""
    explanation = Adjusted(
        points=adjustment.points,
        reason=adjustment.reason,
        by=adjustment.actor,
        on_behalf_of=adjustment.on_behalf_of,
        approved_by=adjustment.approved_by,
    )
    entry = Entry(
        TransferKind.ADJUST, adjustment.key, text_of(explanation), now, now, adjustment.source, actor=adjustment.actor
    )
    if adjustment.points >= 0:
        return put(before, adjustment.points, adjustment.expires_on, entry, lifetime=adjustment.lifetime)
    check_available(before.account, -adjustment.points)
    return take(before, -adjustment.points, entry)


NONE_REFUSED: Final[Mapping[str, Declined]] = {}


class Books(NamedTuple):
    """The accounts, holds and originals, under lock, that a round of movements touches; and members without an account
    whose ids no new member may have.
    """

    accounts: dict[AccountId, AccountWithLots]
    holds: dict[UUID, Hold]
    originals: Mapping[str, Original]
    refused: Container[str] = NOBODY_REFUSED


class Moves(NamedTuple):
    """The rows to write for a round, the claims in order of their keys, and the outcomes to tell."""

    outcomes: list[Moved]
    transfers: list[Transfer]
    claims: list[Claim]
    accounts: dict[AccountId, Account]
    draws: list[Draw]
    holds: list[Hold]
    spending: BatchSpending
    alone: MovedAlone


def account_of(movement: Movement) -> AccountId:
    return (movement.member_id, movement.program)


def rounds(movements: Sequence[Movement]) -> Iterator[list[int]]:
    """The places of the movements that can be decided together. A reversal looks its original up in
    the account as the one before left it, so each reversal of an account has a round of its own.
    """
    together: list[int] = []
    apart: list[list[int]] = []
    seen: dict[AccountId, int] = {}
    for place, movement in enumerate(movements):
        if not isinstance(movement, Reversal):
            together.append(place)
            continue
        turn = seen.get(account_of(movement), 0)
        seen[account_of(movement)] = turn + 1
        if turn == len(apart):
            apart.append([])
        apart[turn].append(place)
    yield from (each for each in (together, *apart) if each)


def plan_moves(
    movements: Sequence[Movement],
    claimed: Mapping[str, Claim],
    books: Books,
    now: datetime,
    standing: LimitUse = NOBODY,
    *,
    moved_alone: MovedAlone | None = None,
    refused: Mapping[str, Declined] = NONE_REFUSED,
) -> Moves:
    """Decide a round. `books` holds every account, hold and original that its new movements touch, `standing` the
    limits of the partners that `partners_counted` names, and `moved_alone` the sums that `whose_sums` names, locked.
    New movements whose keys are `refused` are refused with that fault.
    """
    outcomes: list[Moved] = []
    transfers: list[Transfer] = []
    draws: list[Draw] = []
    claims = Gate(claimed)
    changed: dict[AccountId, Account] = {}
    holds: dict[UUID, Hold] = {}
    spending, alone = BatchSpending(standing, now), moved_alone or MovedAlone((), now)
    for movement in movements:
        earlier = claims.earlier(movement.key, movement.fingerprint)
        if earlier is not None:
            outcomes.append(Moved(movement, earlier.status, claim=earlier.first))
            continue
        if movement.key in refused:
            outcomes.append(Moved(movement, Status.REFUSED, fault=refused[movement.key]))
            continue
        id_ = account_of(movement)
        try:
            check_newcomer(movement.member_id, books.refused)
            before = books.accounts[id_]
            before = before._replace(account=vested(before.account, now))
            change = _change(books, before, movement, now)
            original = _original(books, movement)
            alone.check(movement, original, change)
            count(spending, movement, original, change)
        except (Declined, SetAside) as fault:
            outcomes.append(Moved(movement, Status.REFUSED, fault=fault))
            continue
        alone.count(movement, original, change)
        books.accounts[id_] = change.after
        changed[id_] = change.after.account
        if change.hold is not None:
            books.holds[change.hold.hold_id] = holds[change.hold.hold_id] = change.hold
        claims.enter(movement.key, Claim(movement.key, *id_, change.transfer.seq, movement.fingerprint))
        transfers.append(change.transfer)
        draws += change.draws
        outcomes.append(Moved(movement, Status.POSTED, change.transfer, change.after.account))
    accounts = {id_: changed[id_] for id_ in sorted(changed)}
    entered = sorted(claims.entered.values())
    return Moves(outcomes, transfers, entered, accounts, draws, list(holds.values()), spending, alone)


def _change(books: Books, before: AccountWithLots, movement: Movement, now: datetime) -> Change:
    match movement:
        case Spend():
            change = spend(before, movement, now)
        case Reserve():
            change = reserve(before, movement, now)
        case Capture():
            change = capture(before, _hold(books, movement), movement, now)
        case Release():
            change = release(before, _hold(books, movement), movement, now)
        case Adjustment():
            change = adjust(before, movement, now)
        case Reversal():
            change = reverse(before, _original(books, movement), movement, now)
        case _:
            assert_never(movement)
    return change


def _original(books: Books, movement: Movement) -> Original | None:
    return books.originals.get(movement.reverses) if isinstance(movement, Reversal) else None


def _hold(books: Books, movement: Capture | Release) -> Hold | None:
    hold = books.holds.get(movement.hold_id)
    return hold if hold is not None and (hold.member_id, hold.program) == account_of(movement) else None
