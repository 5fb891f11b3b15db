"""The bodies of questions about offers, and the items that they are about."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.problems import invalid
from abacus.core.ids import ID_PATTERN
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.engage.offers.decide.ask import Scenario
from abacus.engage.offers.decide.basket import MOST_ITEMS, Item
from abacus.engage.offers.decide.currencies import decimals_of, units_of
from abacus.engage.offers.decide.offer import CATEGORY_LEVELS
from abacus.engage.offers.decide.spot import NO_SPOTS, FindSpots, Spot
from abacus.intake.partners.decide.ask import Objection
from abacus.platform.validation import Moment
from abacus.pricing.decide.card import RateCard
from abacus.signals.events.types import Value

MOST_NAMED: Final = 20  # offers, or codes
_MOST_PIECES: Final = 1_000
_MOST_VARIABLES: Final = 50
_MOST_TEXTS: Final = 50
_TEXT: Final = re.compile(r"[^\x00-\x1f\x7f]{1,200}")
_MOMENT: Final[TypeAdapter[datetime]] = TypeAdapter(Moment)
_LONGEST_MOMENT: Final = 40
_MISSING: Final = "missing; name it, or the place"
_SHORTEST_MOMENT: Final = 20  # characters, with seconds and a zone


def _value(asked: object) -> Value:
    """As rules compare it: a number with a fraction is a decimal, a text that is a moment a time."""
    match asked:
        case bool() | int():
            return asked
        case float() if math.isfinite(asked):
            return Decimal(repr(asked))
        case str() if _TEXT.fullmatch(asked):
            return _moment(asked) or asked
        case list() if len(asked) <= _MOST_TEXTS and all(
            isinstance(each, str) and _TEXT.fullmatch(each) for each in asked
        ):
            return tuple(asked)
        case _:
            raise ValueError("a text of 1 to 200 characters, a number, true, false, or a list of texts is needed")


def _moment(text: str) -> datetime | None:
    if not _SHORTEST_MOMENT <= len(text) <= _LONGEST_MOMENT or text[10] != "T":
        return None
    try:
        return _MOMENT.validate_python(text)
    except ValidationError:
        return None


Country = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Text = Annotated[str, StringConstraints(pattern=f"^{_TEXT.pattern}$")]
Variable = Annotated[
    Value,
    PlainValidator(_value),
    WithJsonSchema({"type": ["string", "number", "boolean", "array"], "items": {"type": "string"}}),
]
VariableName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
OfferName = Annotated[str, StringConstraints(pattern=f"^{NAME_PATTERN}$")]
Code = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 -]{1,78}[A-Za-z0-9]$")]


class AskedItem(BaseModel):
    """A line of a basket, or a product of a page. The price is that of one piece; categories go from the widest to the
    narrowest. `place` is the id of the place where it is bought: its merchant, brand and categories are those of the
    item where the item says none. Without a place the item says them.
    """

    model_config = ConfigDict(extra="forbid")

    id: Text
    product: Text
    place: Text | None = None
    merchant: Text | None = None
    brand: Text | None = None
    categories: Annotated[list[Text], Field(max_length=CATEGORY_LEVELS)] | None = None
    price: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,11}(\.[0-9]{1,4})?$")]
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    quantity: Annotated[int, Field(strict=True, ge=1, le=_MOST_PIECES)] = 1
    var: Annotated[dict[VariableName, Variable], Field(max_length=_MOST_VARIABLES)] = {}


Items = Annotated[list[AskedItem], Field(min_length=1, max_length=MOST_ITEMS)]

_ITEM: Final[dict[str, Any]] = {
    "id": "1",
    "product": "laksa",
    "merchant": "m-17",
    "brand": "hawker",
    "categories": ["food", "noodles"],
    "price": "12.00",
    "currency": "SGD",
}


class QualifyAsk(BaseModel):
    """A question for the offers of these items. Without a member the answer has the offers for everybody."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"member_id": "bob", "country": "SG", "scenario": "best", "items": [_ITEM], "explain": True}]
        },
    )

    member_id: Id | None = None
    country: Country
    scenario: Scenario
    items: Items
    explain: Annotated[bool, Field(strict=True)] = False


class ValidateAsk(BaseModel):
    """A question what these offers would save, each by itself."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"member_id": "bob", "country": "SG", "items": [_ITEM], "offers": ["lunch_20", "gold_day"]}]
        },
    )

    member_id: Id | None = None
    country: Country
    items: Items
    offers: Annotated[list[OfferName], Field(max_length=MOST_NAMED)] = []
    codes: Annotated[list[Code], Field(max_length=MOST_NAMED)] = []


async def spots_of(asked: Sequence[AskedItem], find: FindSpots) -> Mapping[str, Spot]:
    """Where the items are bought, by the ids of the places. Raises `Unavailable`."""
    named = {each.place for each in asked if each.place is not None}
    return await find(named) if named else NO_SPOTS


def items_of(asked: Sequence[AskedItem], card: RateCard, spots: Mapping[str, Spot]) -> list[Item]:
    """The items, priced in the currency of the country's card. Raises `Objection` and `ApiProblem`."""
    return [item_of(each, f"/items/{number}", card, spots) for number, each in enumerate(asked)]


def item_of(asked: AskedItem, pointer: str, card: RateCard, spots: Mapping[str, Spot]) -> Item:
    """The same of one item, which stands there in the body."""
    currency = card.currency
    if asked.currency != currency:
        detail = f"{asked.currency}; the currency of the country is {currency}"
        raise Objection("unknown-currency", detail, f"{pointer}/currency")
    try:
        price = units_of(Decimal(asked.price), currency)
    except ValueError:
        detail = f"{currency} has {decimals_of(currency)} decimals"
        raise invalid([FieldFault(pointer=f"{pointer}/price", detail=detail)]) from None
    merchant, brand, categories = asked.merchant, asked.brand, asked.categories
    if asked.place is None:
        if merchant is None or brand is None or categories is None:
            raise _lacking(asked, pointer)
        return Item(
            asked.id,
            asked.product,
            merchant,
            brand,
            tuple(categories),
            price,
            currency,
            asked.quantity,
            asked.var,
        )
    spot = _spot(asked, pointer, card.scope, spots)
    return Item(
        asked.id,
        asked.product,
        spot.merchant if merchant is None else merchant,
        spot.brand if brand is None else brand,
        spot.categories if categories is None else tuple(categories),
        price,
        currency,
        asked.quantity,
        asked.var,
        spot.place,
        spot.regions,
    )


def _lacking(asked: AskedItem, pointer: str) -> ApiProblem:
    given = {"merchant": asked.merchant, "brand": asked.brand, "categories": asked.categories}
    return invalid(
        [FieldFault(pointer=f"{pointer}/{name}", detail=_MISSING) for name, each in given.items() if each is None]
    )


def _spot(asked: AskedItem, pointer: str, country: str, spots: Mapping[str, Spot]) -> Spot:
    """Where the item is bought. A place has one merchant; what it sells may be of another brand and category."""
    spot = spots.get(asked.place or "")
    if spot is None:
        raise invalid([FieldFault(pointer=f"{pointer}/place", detail="there is no such place")])
    if spot.country != country:
        raise invalid([FieldFault(pointer=f"{pointer}/place", detail=f"the place is in {spot.country}")])
    if asked.merchant is not None and spot.merchant and asked.merchant != spot.merchant:
        raise Objection("contradiction", f"the place is of {spot.merchant}", f"{pointer}/merchant")
    return spot
