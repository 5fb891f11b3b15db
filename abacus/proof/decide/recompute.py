"""A transfer recomputed from its own explanation and the card version that this names. Pure."""

from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from typing import Final, get_args

from abacus.core.errors import AbacusError
from abacus.core.points import EXACT, ROUND, money, plain
from abacus.core.sources import exchange_source
from abacus.ledger.types.kinds import KINDS, Effect, TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import RateCard
from abacus.pricing.decide.formula import CAMPAIGN_ENTRY, campaign_worth, entry_on_card, factors_of
from abacus.pricing.decide.offered import offered_points
from abacus.pricing.decide.point_value import worth_at_till
from abacus.pricing.decide.vesting import vesting_of
from abacus.pricing.explanation.text import UnknownExplanation, read
from abacus.pricing.explanation.types import (
    Adjusted,
    Calculated,
    Campaigned,
    Captured,
    Earned,
    ExchangedIn,
    ExchangedOut,
    Explanation,
    FactorName,
    Fixed,
    Granted,
    Held,
    Imported,
    Journeyed,
    Lapsed,
    LapsedByLots,
    LapsedWhole,
    Offered,
    Released,
    Reversed,
    Rewarded,
    Spent,
)

_A_DAY: Final = timedelta(days=1)  # no country's day is further from UTC's


def recompute(transfer: Transfer, book: CardBook) -> str | None:
    """The fault of the transfer's explanation, or None."""
    try:
        explanation = read(transfer.explanation)
        faults = list(_faults(explanation, transfer, book))
    except UnknownExplanation as unknown:
        return f"the explanation is not known here: {unknown.detail}"
    except (AbacusError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        return f"the explanation cannot be recomputed: {type(error).__name__}: {error}"
    if explanation.points != transfer.points:
        faults.append(f"explains {explanation.points} points, the transfer has {transfer.points}")
    return f"the explanation does not hold: {'; '.join(faults)}" if faults else None


def _faults(explanation: Explanation, transfer: Transfer, book: CardBook) -> Iterable[str]:
    if not isinstance(explanation, KINDS[TransferKind(transfer.kind)].explained_by):
        return [f"explains what was {type(explanation).__name__.lower()}, the transfer is of kind {transfer.kind}"]
    faults: Iterable[str]
    match explanation:
        case LapsedWhole() | LapsedByLots():
            faults = _lapsed(explanation, transfer)
        case Reversed():
            faults = _taken_back(explanation, transfer)
        case Calculated() | Fixed() | Granted() | Campaigned() | Offered() | Rewarded() | Journeyed():
            faults = [*_earned(explanation, book), *_vests(explanation, transfer, book)]
        case ExchangedIn(card=card):
            faults = _exchanged_in(explanation, transfer, book.by_name(card).card)
        case ExchangedOut():
            faults = [*_moved(explanation, transfer), *_exchanged_out(explanation, transfer)]
        case Spent(card=str(card)):
            faults = [*_moved(explanation, transfer), *_paid(explanation, book.by_name(card).card)]
        case _:
            faults = _moved(explanation, transfer)
    return faults


def _earned(explanation: Earned, book: CardBook) -> Iterable[str]:
    card = book.by_name(explanation.card).card
    if isinstance(explanation, Granted | Rewarded):
        return []  # a partner or a reward named the points; there is nothing to multiply
    if isinstance(explanation, Campaigned | Journeyed):
        return _campaigned(explanation, card)
    if isinstance(explanation, Offered):
        return _offered(explanation)
    return _fixed(explanation, card) if isinstance(explanation, Fixed) else _calculated(explanation, card)


def _vests(explanation: Earned, transfer: Transfer, book: CardBook) -> Iterable[str]:
    """Points of a transaction vest as its card says; others can be spent at once."""
    is_calculated = isinstance(explanation, Calculated)
    vesting = vesting_of(book.by_name(explanation.card).card, transfer.occurred_at) if is_calculated else None
    on, at = vesting or (None, None)
    if (transfer.vests_on, transfer.vests_at) != (on, at):
        yield f"it vests on {transfer.vests_on} at {transfer.vests_at}, by its card on {on} at {at}"


def _lapsed(explanation: Lapsed, transfer: Transfer) -> Iterable[str]:
    """All available points have to be gone, on a day after the last on which they were good."""
    balance, held = explanation.balance, explanation.held
    free = balance - held - (explanation.pending or 0)
    gone = free
    if isinstance(explanation, LapsedByLots):  # an account that lapses by lots may keep some
        gone = sum(points for _, points in explanation.lots)
    if balance != transfer.balance_after - transfer.points or gone != -transfer.points or gone > free:
        yield f"of {balance} points {held} are held, so {-transfer.points} may not lapse"
    if explanation.expired_on >= transfer.posted_at.date() + _A_DAY:
        yield f"good until {explanation.expired_on}, but gone on {transfer.posted_at.date()}"


def _taken_back(explanation: Reversed, transfer: Transfer) -> Iterable[str]:
    """The points due are gone now, lapsed before, or let go; and a refund's share is no more than the points earned."""
    if explanation.of != transfer.reverses:
        yield f"explains the reversal of {explanation.of}, the transfer is one of {transfer.reverses}"
    due, earned = explanation.due, explanation.earned
    if earned < 0:  # a spend that is given back
        if transfer.points != due:
            yield f"{due} points are due, {transfer.points} came back"
    elif transfer.points != explanation.expired + explanation.clipped - due:
        yield f"{due} points are due, of which {explanation.expired} had lapsed"
    if not 0 <= due <= abs(earned):
        yield f"{due} points are due of {earned}"


def _moved(explanation: Explanation, transfer: Transfer) -> Iterable[str]:
    """A hold adds held points, a release frees them, and neither moves points; points that are spent are available."""
    kind = KINDS[transfer.kind]
    held = explanation.held if isinstance(explanation, Held | Released | Captured | ExchangedOut) else 0
    if kind.points is Effect.NONE and transfer.points:
        yield f"a {transfer.kind} moves no points, this one {transfer.points}"
    if (kind.held is Effect.ADDS) != (held > 0):
        yield f"a {transfer.kind} may not hold {held} more"
    if kind.points is Effect.TAKES and transfer.points > 0:
        yield f"a {transfer.kind} takes points, this one brings {transfer.points}"
    if isinstance(explanation, Spent) and explanation.available < 0 and transfer.points < 0:
        yield f"{explanation.available} points are left available after it"
    if isinstance(explanation, Adjusted | Imported) and transfer.actor not in _adjusters(explanation):
        yield f"explains that {explanation.by} adjusted, the transfer is by {transfer.actor}"


def _exchanged_in(explanation: ExchangedIn, transfer: Transfer, card: RateCard) -> Iterable[str]:
    if transfer.program != card.program:
        yield f"{explanation.card} issues {card.program}, not {transfer.program}"
    if explanation.theirs < 1 or explanation.points < 1:
        yield f"{explanation.points} points came for {explanation.theirs} of {explanation.partner}"
    yield from _of_programme(explanation, transfer)


def _exchanged_out(explanation: ExchangedOut, transfer: Transfer) -> Iterable[str]:
    if explanation.theirs < 1 or not 0 <= explanation.fee < -explanation.points:
        yield (
            f"{-explanation.points} points left, {explanation.fee} of them a fee, for {explanation.theirs} of"
            f" {explanation.partner}"
        )
    yield from _of_programme(explanation, transfer)


def _of_programme(explanation: ExchangedIn | ExchangedOut, transfer: Transfer) -> Iterable[str]:
    """An exchange is its programme's, whichever version."""
    source = exchange_source(explanation.programme.partition("@")[0])
    if transfer.source != source:
        yield f"it is of {source}, the transfer came from {transfer.source}"


def _paid(explanation: Spent, card: RateCard) -> Iterable[str]:
    """The money that the points of a spend paid is what the card says, and no more than the price."""
    money, value = explanation.money, card.point_value
    worth = None if value is None else plain(worth_at_till(-explanation.points, value))
    if worth != money or explanation.currency != card.currency:
        yield f"it paid {money} {explanation.currency}, the points pay {worth} {card.currency}"
    if explanation.price is not None and Decimal(explanation.price) < Decimal(money or 0):
        yield f"it paid {money} of {explanation.price}"


def _adjusters(explanation: Adjusted | Imported) -> set[str]:
    """The actors that the transfer of an adjustment with this explanation may have."""
    if isinstance(explanation, Imported):
        return {explanation.by, f"import:{explanation.imported_from}"}
    return {explanation.by}


def _fixed(explanation: Fixed, card: RateCard) -> Iterable[str]:
    on_card = card.fixed_awards.get(explanation.fixed)
    if on_card != explanation.points:
        yield f"{explanation.fixed} is worth {on_card} on {explanation.card}, not {explanation.points}"


def _campaigned(explanation: Campaigned | Journeyed, card: RateCard) -> Iterable[str]:
    """Points that do not follow from a formula are those of the campaign or the journey; its document says how many."""
    formula = explanation.formula
    if formula is None:
        return
    if [name for name, _, _ in formula.factors] != list(get_args(FactorName)):
        yield "it does not list each factor once"
    for name, entry, value in formula.factors:
        on_card = entry_on_card(card, name, entry)
        if entry != CAMPAIGN_ENTRY and (on_card is None or plain(on_card) != value):
            yield f"{name} {entry} is {on_card} on {explanation.card}, not {value}"
    product, points = campaign_worth(formula)
    compared = (
        ("product", formula.product, product),
        ("rounding", formula.rounding, card.rounding),
        ("currency", formula.currency, card.currency),
        ("points", explanation.points, points),
    )
    for name, recorded, expected in compared:
        if recorded != expected:
            yield f"{name} is {recorded}, not {expected}"


def _offered(explanation: Offered) -> Iterable[str]:
    cap = None if explanation.cap is None else Decimal(explanation.cap)
    expected = offered_points(explanation.benefit, Decimal(explanation.figure), cap, explanation.earned)
    if explanation.points != expected:
        yield f"{explanation.benefit} {explanation.figure} gives {expected} points, not {explanation.points}"


def _calculated(explanation: Calculated, card: RateCard) -> Iterable[str]:
    listed = {name for name, _, _ in explanation.factors}
    missing = [name for name in get_args(FactorName) if name not in listed]
    if missing:  # the others cannot be multiplied to anything that could be compared
        yield f"it lists no factor {', '.join(missing)}"
        return
    entry = explanation.entry
    factors = factors_of(card, entry("vertical"), entry("cashless"), entry("tier"))
    product: Decimal = money(explanation.amount)
    for _, _, value in factors:
        product = EXACT.multiply(product, Decimal(value))
    compared = (
        ("factors", explanation.factors, factors),
        ("product", explanation.product, plain(product)),
        ("rounding", explanation.rounding, card.rounding),
        ("currency", explanation.currency, card.currency),
        ("points", explanation.points, ROUND[card.rounding](product)),
    )
    for name, recorded, expected in compared:
        if recorded != expected:
            yield f"{name} is {recorded}, not {expected}"
