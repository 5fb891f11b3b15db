"""The bodies of requests to move a member's points, and the movements that they become. Pure."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum, auto
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from abacus.core.errors import SetAside
from abacus.core.ids import ID_PATTERN, PROGRAM_PATTERN, award_id, fingerprint
from abacus.core.points import MAX_POINTS, plain
from abacus.core.sources import Agent
from abacus.intake.earning.decide.transaction_message import AmountText, Country, Id
from abacus.intake.partners.decide.ask import Objection, ProgramName, ReasonText
from abacus.intake.partners.decide.till import PointQuote, pays, tender_of
from abacus.ledger.decide.pending import vested
from abacus.ledger.decide.reversal import amount_of
from abacus.ledger.decide.spend import release_of
from abacus.ledger.types.account import Account
from abacus.ledger.types.movement import (
    Adjustment,
    Because,
    Capture,
    Hold,
    Refund,
    Release,
    Reserve,
    Reversal,
    Spend,
)
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import Expiry, PublishedCard
from abacus.programs.expiry.decide.month import last_good_day

NEW_MEMBER: Final = "/new_member"  # where an adjustment says that the member is new
HOLD_FOR_S: Final = 15 * 60
LONGEST_HOLD_S: Final = 31 * 24 * 3600

_MEMBER: Final = re.compile(ID_PATTERN)
_PROGRAM: Final = re.compile(PROGRAM_PATTERN)
_SEQ: Final = re.compile(r"[0-9]{1,18}")  # any such number fits a bigint

PointsToMove = Annotated[int, Field(strict=True, ge=1, le=MAX_POINTS)]
Person = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f\ufffe\uffff]{1,100}$", strip_whitespace=True)]


def _with_example(*examples: dict[str, Any]) -> ConfigDict:
    return ConfigDict(frozen=True, extra="forbid", json_schema_extra={"examples": list(examples)})


class Order(BaseModel):
    """Names the account. Not needed for a member with one account open to you; otherwise name the program, or the
    country for the program of its card.
    """

    program: ProgramName | None = None
    country: Country | None = None


class SpendOrder(Order):
    """Points that the member pays with. `money` is what they pay, as a quote says; `price` is that of the purchase,
    where something else pays the rest.
    """

    model_config = _with_example(
        {"points": 50, "reason": "A coffee"}, {"points": 420, "money": "4.20", "price": "10.00", "reason": "A lunch"}
    )

    points: PointsToMove
    reason: ReasonText = "spent"
    money: AmountText | None = None
    price: Annotated[AmountText | None, Field(description="Only beside `money`.")] = None


class PointQuoteOrder(Order):
    """Points of which the money is asked, or money of which the points are asked; of neither, all available points."""

    model_config = _with_example({"member_id": "bob", "points": 420}, {"member_id": "bob", "money": "4.20"})

    member_id: Id
    points: PointsToMove | None = None
    money: AmountText | None = None


class HoldOrder(Order):
    """Points to be kept for the member's purchase until it is captured or released, or the time is over."""

    model_config = _with_example({"points": 50, "reason": "A table for two", "expires_in": 900})

    points: PointsToMove
    reason: ReasonText = "held"
    expires_in: Annotated[
        int, Field(strict=True, ge=1, le=LONGEST_HOLD_S, description="Seconds until the hold is released by itself.")
    ] = HOLD_FOR_S


class CaptureOrder(BaseModel):
    """Captures all of a hold, or part of it; the rest is released."""

    model_config = _with_example({}, {"points": 30})

    points: PointsToMove | None = None


class ReverseOrder(BaseModel):
    """Takes back all that is left of a transfer, a number of its points, or the share of an amount that is refunded: of
    the transaction that earned them, or of the purchase that they paid.
    """

    model_config = _with_example(
        {"reason": "Cancelled by the shop"},
        {"points": 20, "reason": "One of two returned"},
        {"amount": "5.00", "reason": "Half of it returned"},
    )

    points: PointsToMove | None = None
    amount: AmountText | None = None
    reason: ReasonText = "reversed"


class AdjustmentOrder(Order):
    """Points that somebody adds or takes. `actor` is the person on whose behalf a partner does it, by the partner's
    word; the partner answers for it. A person's token says who it is, and leaves `actor` out.
    """

    model_config = _with_example({"points": -20, "reason": "Credited twice by the shop", "actor": "ann@acme.example"})

    points: Annotated[int, Field(strict=True, ge=-MAX_POINTS, le=MAX_POINTS)]
    reason: ReasonText
    actor: Person | None = None
    new_member: Annotated[
        bool,
        Field(
            strict=True,
            description="A person says by it that the member is new, so that no typing mistake opens an account. It is"
            " not asked of partners.",
        ),
    ] = False


class Target(NamedTuple):
    """The account of an order, the card of its country, and the points that can be spent."""

    member_id: str
    program: str
    country: str
    card: PublishedCard
    available: int = 0


class AccountOpening(Enum):
    """Whether an order may open an account."""

    NONE = auto()
    FURTHER = auto()  # of a member who has one
    FIRST = auto()


def opening_of(order: AdjustmentOrder) -> AccountOpening:
    """What a person's adjustment may open: it says itself where the member is new."""
    return AccountOpening.FIRST if order.new_member else AccountOpening.FURTHER


def target_of(
    member_id: str,
    order: Order,
    accounts: Sequence[Account],
    book: CardBook,
    now: datetime,
    *,
    opening: AccountOpening = AccountOpening.NONE,
) -> Target:
    """`accounts` are the member's accounts that the caller may change. Raises `Objection`; at `NEW_MEMBER` where the
    caller has to say that the member is new.
    """
    if not accounts and opening is AccountOpening.FURTHER:
        detail = f"{member_id!r} has no account; if the id is right and the member is new, say so by `new_member`"
        raise Objection("not-found", detail, NEW_MEMBER)
    country, program = order.country, order.program
    if country is not None and program is None:
        program = card_now(book, country, now).card.program
    fitting = [account for account in accounts if program in {None, account.program}]
    if len(fitting) == 1:
        (account,) = fitting
        if country not in {None, account.country}:
            detail = f"the member's account of {account.program} is one of {account.country}, not of {country}"
            raise Objection("contradiction", detail, "/country")
        card = card_now(book, account.country, now)
        return Target(member_id, account.program, account.country, card, vested(account, now).available)
    if fitting:
        held = ", ".join(account.program for account in fitting)
        raise Objection("unknown-program", f"the member has {held}: say which with `program`", "/program")
    if opening is AccountOpening.NONE or country is None:
        raise Objection("not-found", "the member has no such account; `country` says where to open one", "/country")
    card = card_now(book, country, now)
    if program != card.card.program:
        raise Objection("unknown-program", f"{card.name} issues {card.card.program}, not {program}", "/program")
    return Target(member_id, card.card.program, country, card)


def spend_of(order: SpendOrder, target: Target, key: str, agent: Agent) -> Spend:
    """Raises `Objection` for money that the points do not pay."""
    facts: tuple[str, ...] = ("spend", target.member_id, target.program, str(order.points), order.reason)
    tender = None
    if order.money is not None:
        tender = tender_of(order.points, order.money, order.price, target.card, target.program)
        price = "" if tender.price is None else str(tender.price.normalize())
        facts = (*facts, str(tender.money.normalize()), price)
    elif order.price is not None:
        raise Objection("contradiction", "a price takes the money that the points pay of it", "/price")
    return Spend(
        key=key,
        member_id=target.member_id,
        program=target.program,
        country=target.country,
        fingerprint=fingerprint(facts),
        points=order.points,
        reason=order.reason,
        actor=agent.actor,
        source=agent.source,
        tender=tender,
    )


def point_quote_of(order: PointQuoteOrder, target: Target) -> PointQuote:
    """Raises `Objection`."""
    payment = pays(order.points, order.money, target.available, target.card, target.program)
    return PointQuote(
        member_id=target.member_id,
        program=target.program,
        country=target.country,
        points=payment.points,
        money=plain(payment.money),
        currency=target.card.card.currency,
        available=target.available,
        card=target.card.name,
    )


def hold_of(order: HoldOrder, target: Target, key: str, agent: Agent, now: datetime) -> Reserve:
    facts = ("hold", target.member_id, target.program, str(order.points), order.reason, str(order.expires_in))
    return Reserve(
        key=key,
        member_id=target.member_id,
        program=target.program,
        country=target.country,
        fingerprint=fingerprint(facts),
        points=order.points,
        reason=order.reason,
        actor=agent.actor,
        source=agent.source,
        hold_id=award_id(key),
        until=now + timedelta(seconds=order.expires_in),
    )


def capture_of(order: CaptureOrder, hold: Hold, agent: Agent) -> Capture:
    return Capture(
        key=f"capture:{hold.hold_id}",
        member_id=hold.member_id,
        program=hold.program,
        country=hold.country,
        fingerprint=fingerprint(("capture", str(hold.hold_id), "" if order.points is None else str(order.points))),
        points=order.points,
        actor=agent.actor,
        source=agent.source,
        hold_id=hold.hold_id,
    )


def let_go(hold: Hold, agent: Agent) -> Release:
    return release_of(hold, agent, Because.RELEASED)


def reversal_of(
    order: ReverseOrder, original: Transfer, card: PublishedCard, *, key: str, agent: Agent, now: datetime
) -> Reversal:
    """Raises `Objection` for an amount of what has none."""
    part, named = order.points, "" if order.points is None else str(order.points)
    refund = None
    if order.amount is not None:
        refund = _refund_of(order.amount, order.points, original)
        named = f"amount {refund.amount.normalize()}"
    return Reversal(
        key=key,
        member_id=original.member_id,
        program=original.program,
        country=original.country,
        fingerprint=fingerprint(("reverse", original.key, named, order.reason)),
        reverses=original.key,
        part=refund or part,
        on_shortfall=card.card.on_shortfall,
        card=card.name,
        reason=order.reason,
        actor=agent.actor,
        source=agent.source,
        occurred_at=now,
        expires_on=last_good_day(now, card.card.zone, card.card.expiry_months),
        lifetime=card.card.expiry is Expiry.LIFETIME,
    )


def _refund_of(amount: str, points: int | None, original: Transfer) -> Refund:
    if points is not None:
        raise Objection("contradiction", "name points or an amount, and the other follows", "/amount")
    try:
        _, currency = amount_of(original)
    except SetAside as fault:
        raise Objection("contradiction", fault.detail, "/amount") from None
    return Refund(Decimal(amount), currency)


def adjustment_of(order: AdjustmentOrder, target: Target, key: str, agent: Agent, now: datetime) -> Adjustment:
    card = target.card.card
    facts = ("adjust", target.member_id, target.program, str(order.points), order.reason, order.actor or agent.actor)
    return Adjustment(
        key=key,
        member_id=target.member_id,
        program=target.program,
        country=target.country,
        fingerprint=fingerprint(facts),
        points=order.points,
        reason=order.reason,
        actor=agent.actor,
        source=agent.source,
        approved_by=None,
        expires_on=last_good_day(now, card.zone, card.expiry_months),
        lifetime=card.expiry is Expiry.LIFETIME,
        on_behalf_of=order.actor,
    )


def parse_transfer_id(text: str) -> tuple[str, str, int] | None:
    """`member:program:seq`, as the lists of transfers give it; a member's id may hold colons."""
    member_id, _, rest = text.rpartition(":")
    member_id, _, program = member_id.rpartition(":")
    is_one = _MEMBER.fullmatch(member_id) and _PROGRAM.fullmatch(program) and _SEQ.fullmatch(rest)
    return (member_id, program, int(rest)) if is_one else None


def card_now(book: CardBook, country: str, now: datetime) -> PublishedCard:
    """The card in force in the country. Raises `Objection`."""
    try:
        return book.in_force(country, now)
    except SetAside as fault:
        raise Objection(str(fault.reason), fault.detail, "/country") from None
