"""Explanations in words, as a person would write them down."""

from collections.abc import Iterator
from typing import assert_never

from abacus.pricing.explanation.types import (
    Adjusted,
    Calculated,
    Campaigned,
    Captured,
    Earned,
    ExchangedIn,
    ExchangedOut,
    Explanation,
    Fixed,
    Granted,
    Held,
    Imported,
    Journeyed,
    LapsedByLots,
    LapsedWhole,
    Offered,
    OfHold,
    Released,
    Reversed,
    Rewarded,
    Spent,
)


def in_words(explanation: Explanation, actor: str | None) -> Iterator[str]:
    """A few lines. The actor is the transfer's."""
    by = f" by {actor}" if actor else ""
    match explanation:
        case Calculated() | Fixed() | Granted() | Campaigned() | Offered() | Rewarded() | Journeyed():
            yield from _earned(explanation)
        case Reversed():
            yield from _reversal(explanation, by)
        case LapsedWhole(balance=balance, held=held) | LapsedByLots(balance=balance, held=held):
            yield f"good until {explanation.expired_on}: of {balance} points {held} were held and stay"
            if explanation.pending is not None:
                yield f"and {explanation.pending} had not vested and stay"
        case Spent(reason=reason):
            yield f"spent{by}{_because(reason)}"
            if explanation.money is not None:
                of = "" if explanation.price is None else f" of {explanation.price}"
                yield f"the points paid {explanation.money}{of} {explanation.currency}, by card {explanation.card}"
        case ExchangedIn(exchange=exchange, programme=programme, partner=partner, points=points):
            yield f"by the exchange {exchange} of {programme}: the partner {partner} took {_theirs(explanation)}"
            yield f"{points} points, under card {explanation.card}"
        case Held() | Captured() | ExchangedOut() | Released():
            yield _hold(explanation, by)
        case Adjusted() | Imported():
            yield _adjustment(explanation, actor)
        case _:
            assert_never(explanation)


def _earned(explanation: Earned) -> Iterator[str]:
    match explanation:
        case Calculated():
            yield from _calculation(explanation)
        case Fixed(fixed=event, points=points, card=card):
            yield f"{event}: {points} points fixed by {card}"
        case Granted(granted_by=partner, reason=reason):
            yield f"granted by the partner {partner}: {reason}"
        case Campaigned():
            yield from _campaign(explanation)
        case Offered():
            yield from _offer(explanation)
        case Rewarded(reward=reward, redemption=redemption, points=points, card=card):
            yield f"by the reward {reward}, redemption {redemption}: {points} points, under card {card}"
        case Journeyed():
            yield from _journey(explanation)


def _journey(explanation: Journeyed) -> Iterator[str]:
    turn = f", turn {explanation.turn}" if explanation.turn is not None else ""
    arm = f", in the arm {explanation.arm}" if explanation.arm is not None else ""
    yield f"by the journey {explanation.journey}, visit {explanation.visit}, node {explanation.node}{turn}{arm}"
    yield from _own_worth(explanation, "journey")


def _campaign(explanation: Campaigned) -> Iterator[str]:
    which = f", at count {explanation.count}" if explanation.count is not None else ""
    arm = f", in the arm {explanation.variant}" if explanation.variant is not None else ""
    yield f"by the campaign {explanation.campaign}, step {explanation.step}{which}{arm}, for {explanation.event}"
    for condition, value in explanation.conditions:
        yield f"  {condition}: it was {value}"
    yield from _own_worth(explanation, "campaign")


def _own_worth(explanation: Campaigned | Journeyed, by: str) -> Iterator[str]:
    formula = explanation.formula
    if formula is None:
        yield f"{explanation.points} points fixed by the {by}, under card {explanation.card}"
        return
    factors = "".join(f" x {value} ({name} {entry})" for name, entry, value in formula.factors)
    yield f"{formula.amount} {formula.currency}{factors}"
    times = f", x {formula.multiple}" if formula.multiple != "1" else ""
    yield f"= {formula.product}, {formula.rounding}{times} = {explanation.points} points, by card {explanation.card}"


def _offer(explanation: Offered) -> Iterator[str]:
    yield f"by the offer {explanation.offer}, redemption {explanation.redemption}"
    cap = f", at most {explanation.cap}" if explanation.cap is not None else ""
    if explanation.earned is None:
        how = f"{explanation.figure} points"
    else:
        how = f"{explanation.figure} times the {explanation.earned} points that the purchase earns, without these"
    yield f"{how}{cap} = {explanation.points} points, under card {explanation.card}"


def _calculation(explanation: Calculated) -> Iterator[str]:
    factors = "".join(f" x {value} ({name} {entry})" for name, entry, value in explanation.factors)
    yield f"{explanation.amount} {explanation.currency}{factors or ', and no factors are listed'}"
    yield (f"= {explanation.product}, {explanation.rounding} = {explanation.points} points, by card {explanation.card}")
    if explanation.redemption is not None:
        yield f"paid with the redemption {explanation.redemption}"


def _reversal(explanation: Reversed, by: str) -> Iterator[str]:
    share = f"{explanation.amount} of {explanation.of_amount} " if explanation.amount is not None else ""
    approved = f", approved by {explanation.approved_by}" if explanation.approved_by is not None else ""
    because = f"{approved}{_because(explanation.reason)}"
    yield f"takes back {share}of {explanation.of} ({explanation.earned} points){by}{because}"
    yield (
        f"due {explanation.due}: {explanation.own_lot} from its own points, {explanation.expired} had lapsed,"
        f" {explanation.clipped} were not there and are let go"
    )
    if explanation.money is not None:
        yield (
            f"with {explanation.money} {explanation.currency} of the other money;"
            f" {explanation.points_left} points and {explanation.money_left} are left"
        )


def _hold(explanation: OfHold, by: str) -> str:
    match explanation:
        case Held(held=held, until=until, reason=reason):
            end = "they are settled" if until is None else until.isoformat()
            return f"holds {held} points{by} until {end}{_because(reason)}"
        case ExchangedOut(exchange=exchange, programme=programme, partner=partner, held=held):
            fee = f", with a fee of {explanation.fee}" if explanation.fee else ""
            told = f"the partner {partner} credited {_theirs(explanation)}"
            return f"by the exchange {exchange} of {programme}, of {-held} held{fee}: {told}"
        case Captured(held=held):
            return f"spent{by}, of {-held} held"
        case Released(held=held, because=cause):
            return f"{-held} points are held no more{by}: {cause}"


def _theirs(explanation: ExchangedIn | ExchangedOut) -> str:
    return f"{explanation.theirs} {explanation.unit}"


def _adjustment(explanation: Adjusted | Imported, actor: str | None) -> str:
    approver = explanation.approved_by if isinstance(explanation, Adjusted) else None
    approved = f", approved by {approver}" if approver is not None else ""
    told = explanation.on_behalf_of if isinstance(explanation, Adjusted) else None
    behalf = f" on behalf of {told}" if told is not None else ""
    via = f" ({actor})" if actor != explanation.by else ""
    return f"adjusted by {explanation.by}{via}{behalf}{approved}{_because(explanation.reason)}"


def _because(reason: str | None) -> str:
    return "" if reason is None else f": {reason}"
