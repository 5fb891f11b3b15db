"""The answers to questions about offers, as they are written and as the manual describes them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict

from abacus.engage.offers.decide.ask import ItemAnswer, Reading, Shown, Validated, Verdicts
from abacus.engage.offers.decide.currencies import money_text
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.refusal import Refusal
from abacus.engage.offers.decide.single_code import CODE_UNKNOWN

# What a refusal tells of the member, and not of the items.
_OF_MEMBER: Final = frozenset({Reason.TIER, Reason.SEGMENT, Reason.RULE, Reason.ADMISSION, Reason.USED})
_MEMBER: Final = "member"
_NOT_IN_FORCE: Final = "not-in-force"


class OfferAnswer(BaseModel):
    """An offer for an item: what it saves on the line, what the line costs with it, and the points that the purchase
    earns then; null where the card does not price the item.
    """

    offer: str
    version: int
    saves: str
    pays: str
    until: datetime
    points: int | None


class RefusedAnswer(BaseModel):
    """An offer that one condition keeps from the item, and what it needs."""

    offer: str
    reason: str
    needs: str | None = None


class ItemOffers(BaseModel):
    """The offers of an item. `price` is that of the line before any of them."""

    id: str
    price: str
    best: OfferAnswer | None
    others: list[OfferAnswer]
    refused: list[RefusedAnswer] | None = None


_BEST: Final[dict[str, Any]] = {
    "offer": "lunch_20",
    "version": 1,
    "saves": "2.40",
    "pays": "9.60",
    "until": "2026-11-30T16:00:00Z",
    "points": 19,
}


class QualifyAnswer(BaseModel):
    """The items in their order. Nothing is reserved. `degraded`: offers may be missing, because a part of what they ask
    cannot be read now. `as_of`: when the member was read. `exact`, of a basket: no other combination saves more.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "items": [
                        {
                            "id": "1",
                            "price": "12.00",
                            "best": _BEST,
                            "others": [],
                            "refused": [
                                {"offer": "big_lunch", "reason": "price", "needs": "a price of SGD 15.00 or more"}
                            ],
                        }
                    ],
                    "degraded": False,
                    "reserved": False,
                    "as_of": "2026-11-27T04:00:00Z",
                }
            ]
        }
    )

    items: list[ItemOffers]
    degraded: bool
    reserved: bool
    as_of: datetime | None = None
    exact: bool | None = None


class LineAnswer(BaseModel):
    """What an offer saves on a line, as `OfferAnswer`."""

    id: str
    saves: str
    pays: str
    points: int | None


class ValidatedAnswer(BaseModel):
    """A named offer, or the offer of a code: what it saves in all and on which lines, or why it saves nothing."""

    offer: str | None = None
    code: str | None = None
    version: int | None = None
    saves: str | None = None
    until: datetime | None = None
    items: list[LineAnswer] | None = None
    refused: RefusedAnswer | None = None


class ValidateAnswer(BaseModel):
    """The named offers in their order, then the offers by code. Other fields mean what they mean in `QualifyAnswer`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "offers": [
                        {
                            "offer": "lunch_20",
                            "version": 1,
                            "saves": "2.40",
                            "until": "2026-11-30T16:00:00Z",
                            "items": [{"id": "1", "saves": "2.40", "pays": "9.60", "points": 19}],
                        },
                        {"offer": "gold_day", "refused": {"offer": "gold_day", "reason": "member"}},
                    ],
                    "degraded": False,
                    "reserved": False,
                    "as_of": "2026-11-27T04:00:00Z",
                }
            ]
        }
    )

    offers: list[ValidatedAnswer]
    degraded: bool
    reserved: bool
    as_of: datetime | None = None


def qualified(items: Sequence[bytes], reading: Reading, *, of_basket: bool) -> bytes:
    """The answer as JSON, of items as `item_told` tells them."""
    document: dict[str, Any] = {"items": [orjson.Fragment(each) for each in items], **_reading(reading)}
    if of_basket:
        document["exact"] = reading.is_exact
    return _json(document)


def validated(verdicts: Verdicts, items: list[str], currency: str, *, explains: bool) -> bytes:
    """The verdicts as JSON; `items` are the ids of the lines. Who may not have it explained hears of no condition that
    tells something of the member.
    """
    offers = [_validated(each, items, currency, explains=explains) for each in verdicts.offers]
    return _json({"offers": offers, **_reading(verdicts.reading)})


def _reading(reading: Reading) -> dict[str, Any]:
    told = {"degraded": reading.is_degraded, "reserved": False}
    return told if reading.member_as_of is None else {**told, "as_of": reading.member_as_of}


def item_told(answer: ItemAnswer, currency: str, *, explains: bool) -> bytes:
    told = {
        "id": answer.item.id,
        "price": money_text(answer.item.line, currency),
        "best": _shown(answer.best, currency) if answer.best is not None else None,
        "others": [_shown(each, currency) for each in answer.others],
    }
    if explains:
        told["refused"] = [_refused(each) for each in answer.refused]
    return _json(told)


def _shown(shown: Shown, currency: str) -> dict[str, Any]:
    offer = shown.offer
    return {
        "offer": offer.name,
        "version": offer.version,
        "saves": money_text(shown.saves, currency),
        "pays": money_text(shown.pays, currency),
        "until": offer.ends_at,
        "points": shown.points,
    }


def _refused(refusal: Refusal) -> dict[str, Any]:
    return {"offer": refusal.offer.name, "reason": refusal.reason, "needs": refusal.needs}


def _validated(verdict: Validated, items: list[str], currency: str, *, explains: bool) -> dict[str, Any]:
    offer, code = verdict.offer, {"code": verdict.named} if verdict.is_code else {}
    if offer is None:
        name, reason = ({}, CODE_UNKNOWN) if verdict.is_code else ({"offer": verdict.named}, _NOT_IN_FORCE)
        return {**code, **name, "refused": {"offer": verdict.named, "reason": reason}}
    told = {**code, "offer": offer.name, "version": offer.version}
    if verdict.refused is not None:
        hidden = verdict.refused.reason in _OF_MEMBER and not explains
        return {**told, "refused": {"offer": offer.name, "reason": _MEMBER} if hidden else _refused(verdict.refused)}
    lines = [
        {
            "id": items[place],
            "saves": money_text(shown.saves, currency),
            "pays": money_text(shown.pays, currency),
            "points": shown.points,
        }
        for place, shown in verdict.fits
    ]
    saves = money_text(sum(shown.saves for _, shown in verdict.fits), currency)
    return {**told, "saves": saves, "until": offer.ends_at, "items": lines}


def _json(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_UTC_Z)
