"""What callers ask of exchanges, and what they are answered; the problem of each refusal."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from abacus.api.answer_schemas import with_example
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.exchange_links import problem_of_link
from abacus.core.errors import Absent, Refused
from abacus.core.ids import EVENT_ID_PATTERN, ID_PATTERN
from abacus.core.points import MAX_POINTS
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.exchanges.converter import KeyReused, PointsShort, QuoteStale
from abacus.exchanges.decide.caps import CapReached
from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.link import NUMBER_PATTERN, LinkRefused
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.decide.quote import NotOffered
from abacus.exchanges.decide.terms import UnfitAmount
from abacus.exchanges.decide.turn import WrongState
from abacus.exchanges.exchange_deeds import Told
from abacus.exchanges.exchange_desk import NotEligible, Quote
from abacus.ledger.types.movement import Decline

_PAGE: Final = 50
_MOST_ON_PAGE: Final = 100
_QUOTE: Final = {
    "quote_id": "0d1f6c4e-1b7a-4f0e-9a55-2f5a6c0c7a11",
    "programme": "skymiles",
    "version": 1,
    "direction": "out",
    "points": 2500,
    "fee": 0,
    "theirs": 1000,
    "unit": "miles",
    "ratio": {"give": 5, "get": 2},
    "expires_at": "2026-11-28T09:10:00+00:00",
    "usually": {"half_s": 2.1, "most_s": 9.8},
    "reverses_for_s": None,
    "says": "This cannot be undone.",
}
_TURN: Final = {"state": "held", "at": "2026-11-28T09:01:00+00:00", "reason": None, "detail": None}
_EXCHANGE: Final = {
    "exchange_id": "0d1f6c4e-1b7a-4f0e-9a55-2f5a6c0c7a11",
    "programme": "skymiles",
    "version": 1,
    "partner": "skyline",
    "member_id": "bob",
    "direction": "out",
    "points": 2500,
    "fee": 0,
    "theirs": 1000,
    "state": "held",
    "reason": None,
    "detail": None,
    "reference": None,
    "late": False,
    "asked_at": "2026-11-28T09:01:00+00:00",
    "sent_at": None,
    "credited_at": None,
    "ended_at": None,
}
_INBOUND: Final = {
    "id": "T-1001",
    "state": "reserved",
    "points": 1000,
    "credit": 1500,
    "reason": None,
    "detail": None,
    "until": "2026-11-29T09:01:00+00:00",
}

# The problem of each refusal, in the order in which they are looked at.
_PROBLEMS: Final[tuple[tuple[type[Refused], str], ...]] = (
    (KeyReused, "idempotency-key-reused"),
    (QuoteStale, "quote-over"),
    (CapReached, "exchange-limit-reached"),
    (UnfitAmount, "amount-not-allowed"),
    (NotEligible, "exchange-not-eligible"),
    (NotOffered, "exchange-closed"),
    (WrongState, "exchange-state"),
    (Absent, "not-found"),
)


class ExchangeQuoteOrder(BaseModel):
    """What a member would exchange: `points` of the giver's, or as many as buy a `target` of the taker's."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={"examples": [{"member_id": "bob", "programme": "skymiles", "points": 2500}]},
    )

    member_id: Annotated[str, Field(pattern=ID_PATTERN)]
    programme: Annotated[str, Field(pattern=f"^{NAME_PATTERN}$")]
    direction: Direction = Direction.OUT
    points: Annotated[int | None, Field(strict=True, ge=1, le=MAX_POINTS)] = None
    target: Annotated[int | None, Field(strict=True, ge=1, le=MAX_POINTS)] = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "ExchangeQuoteOrder":
        if (self.points is None) == (self.target is None):
            raise ValueError("either points or a target")
        return self


class ExchangeOrder(BaseModel):
    """A quote that is to be converted. With a member's id, it has to be that member's."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={"examples": [{"quote_id": "0d1f6c4e-1b7a-4f0e-9a55-2f5a6c0c7a11"}]},
    )

    quote_id: UUID
    member_id: Annotated[str | None, Field(pattern=ID_PATTERN)] = None


class RatioAnswer(BaseModel):
    """`give` points of the giver's buy `get` of the taker's."""

    give: int
    get: int


class UsualAnswer(BaseModel):
    """Seconds within which the partner credited half of what it credited lately, and 95 of 100."""

    half_s: float
    most_s: float


class ExchangeQuoteAnswer(BaseModel):
    """What it would be. `theirs` are the partner's points. What comes in begins at the partner: such a quote has no id.
    `usually` is there once the partner has credited anything.
    """

    model_config = with_example(_QUOTE)

    quote_id: UUID | None
    programme: str
    version: int
    direction: Direction
    points: int
    fee: int
    theirs: int
    unit: str
    ratio: RatioAnswer
    expires_at: datetime | None
    usually: UsualAnswer | None
    reverses_for_s: int | None
    says: str


class TurnAnswer(BaseModel):
    """An exchange came to a state."""

    model_config = with_example(_TURN)

    state: State
    at: datetime
    reason: str | None
    detail: str | None


class ExchangeAnswer(BaseModel):
    """An exchange. `detail` has the partner's own words. It is `late` where the partner has had it for longer than
    usual; the points stay held meanwhile.
    """

    model_config = with_example(_EXCHANGE)

    exchange_id: UUID
    programme: str
    version: int
    partner: str
    member_id: str
    direction: Direction
    points: int
    fee: int
    theirs: int
    state: State
    reason: str | None
    detail: str | None
    reference: str | None
    late: bool
    asked_at: datetime | None
    sent_at: datetime | None
    credited_at: datetime | None
    ended_at: datetime | None


class ToldExchangeAnswer(ExchangeAnswer):
    """The same, with its trail, and until when it can be undone."""

    model_config = with_example({**_EXCHANGE, "reversible_until": None, "trail": [_TURN]})

    reversible_until: datetime | None
    trail: list[TurnAnswer]


class ExchangePage(BaseModel):
    """The query parameters for a page of a member's exchanges."""

    model_config = ConfigDict(extra="forbid")

    member_id: Annotated[str, Field(pattern=ID_PATTERN)]
    cursor: Annotated[str | None, Field(description="The `next` of the page before.", max_length=200)] = None
    limit: Annotated[int, Field(ge=1, le=_MOST_ON_PAGE)] = _PAGE


class ExchangesAnswer(BaseModel):
    """A page, the newest first; `next` is the cursor of the next one, if there is one."""

    model_config = with_example({"member_id": "bob", "exchanges": [_EXCHANGE], "next": None})

    member_id: str
    exchanges: list[ExchangeAnswer]
    next: str | None


class InboundOrder(BaseModel):
    """What the partner's member gives: `points` of the partner's, from this account."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_extra={"examples": [{"account": "12345678", "points": 1000}]}
    )

    account: Annotated[str, Field(pattern=NUMBER_PATTERN)]
    points: Annotated[int, Field(strict=True, ge=1, le=MAX_POINTS)]


class InboundState(StrEnum):
    """Where an exchange of a partner stands."""

    RESERVED = "reserved"
    COMMITTED = "committed"
    AWARDED = "awarded"
    DROPPED = "dropped"


class InboundAnswer(BaseModel):
    """An exchange of the partner: its `points` become a `credit` of the house's. What is not committed `until` then is
    dropped. What was dropped is refused for ever.
    """

    model_config = with_example(_INBOUND)

    id: str
    state: InboundState
    points: int
    credit: int
    reason: str | None
    detail: str | None
    until: datetime | None


INBOUND_ID: Final = EVENT_ID_PATTERN


def quote_facts(quote: Quote) -> dict[str, Any]:
    programme, terms = quote.programme, quote.programme.directions[quote.direction].terms
    ours, theirs = quote.amounts if quote.direction is Direction.OUT else reversed(quote.amounts)
    undo = programme.reverses_for
    return {
        "quote_id": None if quote.exchange is None else str(quote.exchange.exchange_id),
        "programme": programme.name,
        "version": programme.version,
        "direction": quote.direction,
        "points": ours,
        "fee": quote.fee,
        "theirs": theirs,
        "unit": programme.unit,
        "ratio": terms.ratio._asdict(),
        "expires_at": None if quote.exchange is None else quote.exchange.expires_at,
        "usually": None
        if quote.usual is None
        else {"half_s": quote.usual.half.total_seconds(), "most_s": quote.usual.most.total_seconds()},
        "reverses_for_s": None if undo is None else int(undo.total_seconds()),
        "says": "This cannot be undone." if undo is None else f"This can be undone within {undo.days} days.",
    }


def exchange_facts(each: Exchange, now: datetime) -> dict[str, Any]:
    return {
        "exchange_id": str(each.exchange_id),
        "programme": each.programme,
        "version": each.version,
        "partner": each.partner,
        "member_id": each.member_id,
        "direction": each.direction,
        "points": each.points,
        "fee": each.fee,
        "theirs": each.theirs,
        "state": each.state,
        "reason": each.reason,
        "detail": each.detail,
        "reference": each.reference,
        "late": each.ended_at is None and each.late_at is not None and each.late_at <= now,
        "asked_at": each.asked_at,
        "sent_at": each.sent_at,
        "credited_at": each.credited_at,
        "ended_at": each.ended_at,
    }


def told_facts(told: Told, now: datetime) -> dict[str, Any]:
    return {
        **exchange_facts(told.exchange, now),
        "reversible_until": told.reversible_until,
        "trail": [_turn(each) for each in told.turns],
    }


def inbound_facts(each: Exchange) -> dict[str, Any]:
    return {
        "id": each.reference,
        "state": each.state,
        "points": each.theirs,
        "credit": each.points,
        "reason": each.reason,
        "detail": each.detail,
        "until": each.expires_at if each.state is State.RESERVED else None,
    }


def problem_of(fault: Refused) -> ApiProblem:
    if isinstance(fault, PointsShort):
        kind = "insufficient-points" if fault.decline is Decline.INSUFFICIENT else "exchange-not-eligible"
        return ApiProblem(kind, str(fault))
    if isinstance(fault, LinkRefused):
        return problem_of_link(fault)
    kind = next((name for class_, name in _PROBLEMS if isinstance(fault, class_)), "exchange-state")
    if isinstance(fault, UnfitAmount):
        return ApiProblem(kind, str(fault), errors=[FieldFault(pointer="/points", detail=str(fault))])
    return ApiProblem(kind, str(fault))


def _turn(each: Turn) -> dict[str, Any]:
    return {"state": each.state, "at": each.at, "reason": each.reason, "detail": each.detail}
