"""The route of many awards in one request."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SkipValidation,
    StringConstraints,
    Tag,
    TypeAdapter,
    ValidationError,
)
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import BatchAnswer
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Access, call_of
from abacus.api.award_entries import check_id, enter, entry_of, tiers_of
from abacus.api.idempotency import is_idempotency_key
from abacus.api.lean import LeanRoute
from abacus.api.problems import MOST_IN_BATCH, problem_of, problem_of_item
from abacus.api.route_description import answered
from abacus.core.errors import OF_CARDS, Unavailable
from abacus.core.ids import IDEMPOTENCY_KEY_PATTERN
from abacus.intake.partners.calculations import Calculations
from abacus.intake.partners.decide.ask import (
    ComputedAsk,
    Considered,
    FixedAsk,
    Objection,
    consider,
    entry_for,
    kind_of_ask,
)
from abacus.intake.partners.decide.entry import Entry
from abacus.intake.partners.decide.partner import Partner

router = APIRouter(prefix="/v1", tags=["awards"], route_class=LeanRoute, default_response_class=Response)


class _Item(BaseModel):
    model_config = ConfigDict(frozen=True)

    idempotency_key: Annotated[str, StringConstraints(pattern=IDEMPOTENCY_KEY_PATTERN)]


class FixedItem(FixedAsk, _Item):
    """A number of points that the partner names, under its own key."""


class ComputedItem(ComputedAsk, _Item):
    """A transaction that Abacus computes, under its own key."""


Item = Annotated[
    Annotated[FixedItem, Tag("fixed")] | Annotated[ComputedItem, Tag("computed")], Discriminator(kind_of_ask)
]
_ITEM: Final[TypeAdapter[FixedItem | ComputedItem]] = TypeAdapter(Item)


class BatchAsk(BaseModel):
    """Many awards, each under its own key; each succeeds or fails by itself."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "awards": [
                        {"idempotency_key": "w-1", "member_id": "bob", "country": "SG", "points": 5, "reason": "Hi"},
                        {"idempotency_key": "w-2", "member_id": "eve", "country": "SG", "points": 5, "reason": "Hi"},
                    ]
                }
            ]
        },
    )

    # The items are not validated here but one by one, so that a bad item does not spoil its neighbours.
    awards: Annotated[list[SkipValidation[Item]], Field(min_length=1, max_length=MOST_IN_BATCH)]


@router.post(
    "/awards/batch",
    summary="Award points to many",
    responses=answered({200: (BatchAnswer, "What became of each")}, 415, 422),
)
async def award_batch(batch: BatchAsk, request: Request) -> Response:
    """Up to 1,000 awards, each under its own key. The answer says for each award whether it was accepted."""
    results = await _award_all(batch.awards, *call_of(request))
    return answers.json_answer({"results": results})


async def _award_all(items: Sequence[Any], partner: Partner, access: Access) -> list[dict[str, Any]]:
    """The outcome of each item, in order. Raises `Unavailable` when nothing can be priced."""
    now = access.clock.now()
    calculator = access.rooms[Calculations].current()
    results: list[dict[str, Any]] = [{"idempotency_key": _key_of(item), "outcome": "refused"} for item in items]
    considered: dict[int, Considered] = {}
    refused: dict[int, FixedItem | ComputedItem] = {}  # refused again one by one, unless later cards know better
    for place, ask in _readable(items, results).items():
        try:
            check_id(ask.member_id)
            considered[place] = consider(ask, partner, calculator, now)
        except (Objection, Unavailable):
            refused[place] = ask
    tiers = await tiers_of(list(considered.values()), access)

    async def entry_at(place: int, each: Considered, tier: str | None) -> Entry:
        try:
            return entry_for(each, calculator, tier, results[place]["idempotency_key"], now)
        except Objection as error:
            if error.kind not in OF_CARDS:
                raise
        return await entry_of(each.ask, partner, access, results[place]["idempotency_key"])

    async def enter_one(place: int, deciding: Awaitable[Entry]) -> None:
        try:
            entry = await deciding
            accepted = await enter(entry, access)
        except (Objection, Unavailable) as error:
            results[place]["problem"] = problem_of(error, f"/awards/{place}").document()
        except ApiProblem as problem:
            results[place]["problem"] = problem.document()
        else:
            results[place]["outcome"] = "replayed" if accepted.replayed else "accepted"
            results[place]["award"] = answers.queued(entry.award_id, accepted)

    await asyncio.gather(
        *(
            enter_one(place, entry_at(place, each, tier))
            for (place, each), tier in zip(considered.items(), tiers, strict=True)
        ),
        *(
            enter_one(place, entry_of(ask, partner, access, results[place]["idempotency_key"]))
            for place, ask in refused.items()
        ),
    )
    return results


def _readable(items: Sequence[Any], results: Sequence[dict[str, Any]]) -> dict[int, FixedItem | ComputedItem]:
    """The items that can be read, by their places; the results say what is wrong with the others."""
    readable: dict[int, FixedItem | ComputedItem] = {}
    for place, item in enumerate(items):
        try:
            readable[place] = _ITEM.validate_python(item)
        except ValidationError as error:
            problem = problem_of_item(error, f"/awards/{place}")
            results[place]["problem"] = problem.document()
    return readable


def _key_of(item: Any) -> str | None:
    key = item.get("idempotency_key") if isinstance(item, dict) else None
    return key if isinstance(key, str) and is_idempotency_key(key) else None
