"""The body of an award request, its checks, and the award that it becomes. Pure."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag

from abacus.core.clock import is_to_come
from abacus.core.errors import AbacusError, Reason, SetAside
from abacus.core.ids import NAME_PATTERN, PROGRAM_PATTERN, fingerprint, partner_key
from abacus.core.points import MAX_POINTS
from abacus.intake.earning.decide.calculate import Calculator, for_partner
from abacus.intake.earning.decide.source_message import PartnerRequest, SourceMessage
from abacus.intake.earning.decide.transaction import Completed, encode_transaction
from abacus.intake.earning.decide.transaction_message import AmountText, Country, Currency, Id, Name, RedemptionId
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.decide.partner import Partner
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.platform.validation import Moment
from abacus.pricing.decide.card import BASE_TIER, Expiry, PublishedCard
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Granted
from abacus.programs.expiry.decide.month import last_good_day

ProgramName = Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
ReasonText = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f\ufffe\uffff]{1,200}$")]


class FixedAsk(BaseModel):
    """A number of points that the partner names."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"member_id": "bob", "country": "SG", "points": 100, "reason": "Welcome to Acme"}]
        },
    )

    member_id: Id
    country: Country
    points: Annotated[int, Field(strict=True, ge=1, le=MAX_POINTS)]
    reason: ReasonText
    program: ProgramName | None = None


class AskedTransaction(BaseModel):
    """A transaction for Abacus to compute, as it would stand on the transactions topic."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["transaction.completed"] = "transaction.completed"
    source: Annotated[str, StringConstraints(pattern=NAME_PATTERN)] | None = None
    transaction_id: Id
    member_id: Id | None = None
    country: Country
    vertical: Name
    payment_type: Name
    amount: AmountText
    currency: Currency
    occurred_at: Moment
    redemption_id: RedemptionId | None = None


class ComputedAsk(BaseModel):
    """A transaction that Abacus computes."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "member_id": "bob",
                    "transaction": {
                        "transaction_id": "A-1001",
                        "country": "SG",
                        "vertical": "food",
                        "payment_type": "wallet",
                        "amount": "15.00",
                        "currency": "SGD",
                        "occurred_at": "2026-01-10T12:30:00+08:00",
                    },
                }
            ]
        },
    )

    member_id: Id
    country: Country | None = None
    transaction: AskedTransaction
    program: ProgramName | None = None


def kind_of_ask(body: Any) -> str:
    """Whether a body is meant as fixed points or as a transaction to compute."""
    computed = "transaction" in body if isinstance(body, dict) else isinstance(body, ComputedAsk)
    return "computed" if computed else "fixed"


Ask = Annotated[Annotated[FixedAsk, Tag("fixed")] | Annotated[ComputedAsk, Tag("computed")], Discriminator(kind_of_ask)]


class Objection(AbacusError):
    """The partner may not make this request, or the request makes no sense; `pointer` names the field by RFC 6901."""

    def __init__(self, kind: str, detail: str, pointer: str, *, forbidden: bool = False) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.pointer = pointer
        self.forbidden = forbidden


class Considered(NamedTuple):
    """A request that the partner may make, with its rate card."""

    ask: FixedAsk | ComputedAsk
    partner: Partner
    card: PublishedCard
    transaction: Completed | None

    @property
    def member_id(self) -> str:
        return self.ask.member_id


def consider(ask: FixedAsk | ComputedAsk, partner: Partner, calculator: Calculator, now: datetime) -> Considered:
    """By the cards that are in force. Raises `Objection`."""
    transaction = transaction_of(ask, partner) if isinstance(ask, ComputedAsk) else None
    if transaction is not None and is_to_come(transaction.occurred_at, now):
        raise Objection(
            str(Reason.IN_THE_FUTURE),
            f"{transaction.occurred_at.isoformat()} is still to come",
            "/transaction/occurred_at",
        )
    return consider_by(calculator.book.in_force, ask, transaction, partner, at=now)


def consider_by(
    card_at: Callable[[str, datetime], PublishedCard],
    ask: FixedAsk | ComputedAsk,
    transaction: Completed | None,
    partner: Partner,
    *,
    at: datetime,
) -> Considered:
    """By the card of the transaction's time, or of `at` where there is none. The country has to have a card of its own
    at `at`: otherwise it has no partners' awards either. Raises `Objection`.
    """
    country = transaction.country if transaction else ask.country or ""
    where = "/transaction/country" if transaction else "/country"
    if transaction is None and not partner.fixed_points:
        raise Objection("fixed-points-not-allowed", "this partner may not name points", "/points", forbidden=True)
    if transaction is not None and not partner.computed_points:
        raise Objection(
            "computed-points-not-allowed", "this partner may not send transactions", "/transaction", forbidden=True
        )
    if not partner.may_award_in(country):
        raise Objection("country-not-allowed", f"this partner may not award in {country}", where, forbidden=True)
    try:
        card_at(country, at)
        card = card_at(partner.scope_in(country), transaction.occurred_at if transaction else at)
    except SetAside as fault:
        raise Objection(str(fault.reason), fault.detail, where) from None
    if ask.program is not None and ask.program != card.card.program:
        raise Objection("unknown-program", f"{card.name} issues {card.card.program}, not {ask.program}", "/program")
    return Considered(ask, partner, card, transaction)


def transaction_of(ask: ComputedAsk, partner: Partner) -> Completed:
    """Raises `Objection` where it contradicts itself."""
    fields = ask.transaction
    if fields.member_id not in {None, ask.member_id}:
        raise Objection("contradiction", "the transaction names another member", "/transaction/member_id")
    if ask.country not in {None, fields.country}:
        raise Objection("contradiction", "the transaction names another country", "/transaction/country")
    source = fields.source or partner.partner_id
    if not partner.may_name(source):
        raise Objection(
            "source-not-allowed",
            f"this partner may not send transactions of {source}",
            "/transaction/source",
            forbidden=True,
        )
    return Completed(
        source=source,
        transaction_id=fields.transaction_id,
        member_id=ask.member_id,
        country=fields.country,
        occurred_at=fields.occurred_at,
        type=fields.type,
        vertical=fields.vertical,
        payment_type=fields.payment_type,
        amount=fields.amount,
        currency=fields.currency,
        redemption_id=fields.redemption_id,
    )


_POINTERS: Final = {
    Reason.UNKNOWN_VERTICAL: "/transaction/vertical",
    Reason.UNKNOWN_PAYMENT_TYPE: "/transaction/payment_type",
    Reason.UNKNOWN_CURRENCY: "/transaction/currency",
    Reason.OUT_OF_RANGE: "/transaction/amount",
    Reason.UNKNOWN_TIER: "/member_id",
}


def entry_for(
    considered: Considered, calculator: Calculator, tier: str | None, idempotency_key: str, now: datetime
) -> Entry:
    """The entry for the register and the queue. Without a known tier the transaction goes to the retry queue, and the
    tier is looked up there later. Raises `Objection`.
    """
    award = award_for(considered, calculator, tier or BASE_TIER, idempotency_key, now)
    _, partner, card, transaction = considered
    if tier is not None or transaction is None:
        return Entry.of(partner.partner_id, award)
    request = PartnerRequest(award.key, card.name)
    body = encode_transaction(transaction)
    return Entry.of(partner.partner_id, award, SourceMessage(body, request.origin))


def award_for(considered: Considered, calculator: Calculator, tier: str, idempotency_key: str, now: datetime) -> Award:
    """The award that the ledger shall post. Raises `Objection` for a transaction that cannot be priced."""
    ask, partner, card, transaction = considered
    key = partner_key(partner.partner_id, idempotency_key)
    if transaction is not None:
        try:
            award = calculator.award(transaction, card, tier)
        except SetAside as fault:
            raise Objection(str(fault.reason), fault.detail, _POINTERS.get(fault.reason, "/transaction")) from None
        assert award is not None  # noqa: S101  # only an event may come to nothing
        return for_partner(award, transaction, key, partner.source)
    assert isinstance(ask, FixedAsk)  # noqa: S101  # an award without a transaction has fixed points
    granted = Granted(granted_by=partner.partner_id, reason=ask.reason, card=card.name, points=ask.points)
    return Award(
        key=key,
        member_id=ask.member_id,
        program=card.card.program,
        country=ask.country,
        kind=TransferKind.EARN,
        points=ask.points,
        occurred_at=now,
        expires_on=last_good_day(now, card.card.zone, card.card.expiry_months),
        activity=False,  # a gift is not a transaction: it does not keep other points alive
        fingerprint=fingerprint(("grant", ask.member_id, ask.country, ask.program or "", str(ask.points), ask.reason)),
        explanation=text_of(granted),
        source=partner.source,
        lifetime=card.card.expiry is Expiry.LIFETIME,
    )
