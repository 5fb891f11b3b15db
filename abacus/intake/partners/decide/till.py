"""What a member's points pay at a till: the quote, and the money that a spend names. Pure."""

from decimal import Decimal
from typing import NamedTuple

from abacus.core.points import plain
from abacus.intake.partners.decide.ask import Objection
from abacus.ledger.types.movement import Tender
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.point_value import Payment, PointValue, paid_by, paid_towards, worth_at_till


class PointQuote(NamedTuple):
    """These points pay this money, by the card that is in force. `available` points can be spent."""

    member_id: str
    program: str
    country: str
    points: int
    money: str
    currency: str
    available: int
    card: str


def point_value(published: PublishedCard, program: str) -> PointValue:
    """What a point of the program pays. Raises `Objection` where the card does not say it."""
    card = published.card
    if card.program != program:
        raise Objection("no-point-value", f"{published.name} speaks of {card.program}, not of {program}", "/program")
    if card.point_value is None:
        raise Objection("no-point-value", f"{published.name} does not say what a point pays", "/program")
    return card.point_value


def pays(points: int | None, money: str | None, available: int, published: PublishedCard, program: str) -> Payment:
    """What the points pay, or how many pay the money; of neither, what the available points pay. Raises `Objection`."""
    value = point_value(published, program)
    if points is not None and money is not None:
        raise Objection("contradiction", "name points or money, and the other follows", "/money")
    if money is not None:
        return paid_towards(Decimal(money), value)
    return paid_by(max(0, available) if points is None else points, value)


def tender_of(points: int, money: str, price: str | None, published: PublishedCard, program: str) -> Tender:
    """The money that a spend's points pay. Raises `Objection` where the card in force says another amount."""
    worth = worth_at_till(points, point_value(published, program))
    if Decimal(money) != worth:
        detail = f"{points} points pay {plain(worth)} by {published.name}, not {money}"
        raise Objection("money-differs", detail, "/money")
    if price is not None and Decimal(price) < worth:
        raise Objection("contradiction", f"the points pay {plain(worth)}, more than the price of {price}", "/price")
    return Tender(worth, published.card.currency, published.name, None if price is None else Decimal(price))
