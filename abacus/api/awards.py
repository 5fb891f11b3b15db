"""Awards: one, many, what became of one, and what one would come to."""

import asyncio
import re
from collections.abc import Sequence
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Body, Path, Request
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
from abacus.api.auth import call_of
from abacus.api.lean import LeanRoute
from abacus.api.parts import Parts
from abacus.api.problems import IDEMPOTENCY_KEY_HEADER, ApiProblem, documented, problem_of, problem_of_faults
from abacus.core.errors import Unavailable
from abacus.core.ids import IDEMPOTENCY_KEY_PATTERN
from abacus.intake.partners.award_intake import Accepted, KeyInFlight, KeyReused
from abacus.intake.partners.decide.ask import (
    Ask,
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
from abacus.intake.partners.register import AwardStatus
from abacus.ledger.decide.allowance import OverLimit
from abacus.platform.metrics import ASKED
from abacus.pricing.decide.card import BASE_TIER

MOST_IN_BATCH: Final = 1000
_LONGEST_WAIT_S: Final = 10
_TIERS_WITHIN_S: Final = 2.0
_PREFER: Final = "Prefer"
_IDEMPOTENCY_KEY: Final = re.compile(IDEMPOTENCY_KEY_PATTERN)
_WAIT: Final = re.compile(r"(?:^|[,;])\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?:$|[,;])", re.IGNORECASE)

router = APIRouter(prefix="/v1", tags=["awards"], route_class=LeanRoute)


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

    # The schema says what an item is; each is read by itself, so that a bad one does not hide its neighbours.
    awards: Annotated[list[SkipValidation[Item]], Field(min_length=1, max_length=MOST_IN_BATCH)]


# Documented here and read by `idempotency_key_of` and `_seconds_to_wait`.
_HEADERS: Final[list[dict[str, Any]]] = [
    {
        "name": IDEMPOTENCY_KEY_HEADER,
        "in": "header",
        "required": True,
        "description": "Yours: 1 to 255 visible characters. The same key and facts are the same award, for ever.",
        "schema": {"type": "string", "pattern": IDEMPOTENCY_KEY_PATTERN, "examples": ["order-1001"]},
    },
    {
        "name": _PREFER,
        "in": "header",
        "description": "`wait=N`: wait up to N (at most 10) seconds for the posting.",
        "schema": {"type": "string"},
    },
]


@router.post(
    "/awards",
    status_code=202,
    summary="Award points",
    response_class=Response,
    responses={
        202: {"model": answers.AwardAnswer, "description": "The queue has the award"},
        201: {"model": answers.AwardAnswer, "description": "The award is posted (with `Prefer: wait`)"},
        **documented(400, 403, 409, 415, 422),
    },
    openapi_extra={"parameters": _HEADERS},
)
async def award(ask: Annotated[Ask, Body()], request: Request) -> Response:
    """Award points that you name, or those of a transaction that Abacus computes.

    The answer comes when the award queue has the award. The same key and the same facts give the first answer again.
    """
    partner, parts = call_of(request)
    entry = await _entry(ask, partner, parts, idempotency_key_of(request))
    accepted = await _enter(entry, parts)
    headers = {"Idempotency-Replayed": "true"} if accepted.replayed else {}
    seconds = _seconds_to_wait(", ".join(request.headers.getlist(_PREFER)))
    if seconds:
        headers["Preference-Applied"] = f"wait={seconds}"
        outcome = await parts.watch.outcome(entry.award_id, seconds)
        if outcome is not None and outcome.status is AwardStatus.POSTED:
            return answers.json_answer(answers.state(outcome), 201, headers)
        if outcome is not None and outcome.status is AwardStatus.REJECTED:
            raise ApiProblem(outcome.reason or "", outcome.detail or "", extra={"award_id": str(outcome.award_id)})
        if outcome is not None:
            return answers.json_answer(answers.state(outcome), 202, headers)
    return answers.json_answer(answers.queued(entry.award_id, accepted), 202, headers)


@router.post(
    "/awards/batch",
    summary="Award points to many",
    response_class=Response,
    responses={
        200: {"model": answers.BatchAnswer, "description": "What became of each"},
        **documented(400, 415, 422),
    },
)
async def award_batch(batch: BatchAsk, request: Request) -> Response:
    """Up to 1,000 awards, each under its own key. The answer tells of each whether it was accepted."""
    results = await _award_all(batch.awards, *call_of(request))
    return answers.json_answer({"results": results})


@router.get(
    "/awards/{award_id:uuid}",  # so that GET /awards/batch is told that it takes POST only
    summary="What became of an award",
    response_class=Response,
    responses={200: {"model": answers.AwardAnswer, "description": "The award"}, **documented(404, 422)},
)
async def award_state(award_id: Annotated[UUID, Path()], request: Request) -> Response:
    """Queued, posted, rejected or quarantined, with the explanation of its points."""
    partner, parts = call_of(request)
    remembered = parts.award_intake.remembered(award_id)
    award = (await parts.register.states([award_id])).get(award_id)
    if award is not None and award.partner_id == partner.partner_id:
        return answers.json_answer(answers.state(award))
    if remembered is not None and remembered.partner_id == partner.partner_id:
        accepted = Accepted(remembered.award, replayed=False, provisional=remembered.provisional)
        return answers.json_answer(answers.queued(award_id, accepted))
    raise ApiProblem("not-found", "you asked for no award of this id")


@router.post(
    "/quotes",
    summary="What an award would come to",
    tags=["quotes"],
    response_class=Response,
    responses={200: {"model": answers.Worth, "description": "The points"}, **documented(400, 403, 415, 422)},
)
async def quote(ask: Annotated[Ask, Body()], request: Request) -> Response:
    """The same bodies as for an award; nothing is awarded."""
    entry = await _entry(ask, *call_of(request), "quote")
    if entry.provisional:
        raise Unavailable("tiers", "what the member's tier is cannot be read now")
    return answers.json_answer(answers.worth(entry.award))


async def _entry(ask: FixedAsk | ComputedAsk, partner: Partner, parts: Parts, idempotency_key: str) -> Entry:
    """Raises `Objection`, and `Unavailable` when no card was ever read."""
    now = parts.clock.now()
    calculator = parts.calculator()
    considered = consider(ask, partner, calculator, now)
    tier = (await _tiers([considered], parts))[0]
    return entry_for(considered, calculator, tier, idempotency_key, now)


async def _tiers(considered: Sequence[Considered], parts: Parts) -> Sequence[str | None]:
    """The tier of each member, read at once for those whose transaction is computed; none while they cannot be read."""
    accounts = [(each.member_id, each.card.card.program) for each in considered]
    computed = {account for each, account in zip(considered, accounts, strict=True) if each.transaction is not None}
    if not computed:
        return [BASE_TIER] * len(accounts)
    try:
        async with asyncio.timeout(_TIERS_WITHIN_S):
            listed = await parts.tiers.tiers_of(computed)
    except (Unavailable, TimeoutError):
        return [None] * len(accounts)
    return [listed.get(account, BASE_TIER) for account in accounts]


async def _enter(entry: Entry, parts: Parts) -> Accepted:
    """Raises `ApiProblem` or `Unavailable`."""
    try:
        await _check_limits(entry, parts)
        accepted = await parts.award_intake.enter(entry)
    except KeyInFlight:
        ASKED.labels(entry.partner_id, "refused").inc()
        raise ApiProblem("key-in-flight", headers={"Retry-After": "1"}) from None
    except KeyReused:
        ASKED.labels(entry.partner_id, "refused").inc()
        raise ApiProblem("idempotency-key-reused") from None
    except OverLimit as over:
        ASKED.labels(entry.partner_id, "refused").inc()
        raise ApiProblem(str(over.reason), over.detail) from None
    ASKED.labels(entry.partner_id, "replayed" if accepted.replayed else "accepted").inc()
    return accepted


async def _check_limits(entry: Entry, parts: Parts) -> None:
    """Refuse early what would be rejected at the posting, as far as is known here; but not what was accepted before.

    Raises `OverLimit`.
    """
    today = parts.clock.now().date()
    try:
        parts.directory.allowance(entry.partner_id).on(today).check(entry.award.points, 0)
    except OverLimit:
        try:
            known = await parts.register.states([entry.award_id])
        except Unavailable:
            known = {}
        if entry.award_id not in known:
            raise


async def _award_all(items: Sequence[Any], partner: Partner, parts: Parts) -> list[dict[str, Any]]:
    """What became of each item, in order. Raises `Unavailable` when nothing can be priced."""
    now = parts.clock.now()
    calculator = parts.calculator()
    results: list[dict[str, Any]] = [{"idempotency_key": _key_of(item), "outcome": "refused"} for item in items]
    considered: dict[int, Considered] = {}
    for place, item in enumerate(items):
        try:
            considered[place] = consider(_ITEM.validate_python(item), partner, calculator, now)
        except ValidationError as error:
            results[place]["problem"] = problem_of_faults(
                error.errors(include_url=False), f"/awards/{place}"
            ).document()
        except Objection as error:
            results[place]["problem"] = problem_of(error, f"/awards/{place}").document()
    tiers = await _tiers(list(considered.values()), parts)

    async def enter(place: int, each: Considered, tier: str | None) -> None:
        try:
            entry = entry_for(each, calculator, tier, results[place]["idempotency_key"], now)
            accepted = await _enter(entry, parts)
        except (Objection, Unavailable) as error:
            results[place]["problem"] = problem_of(error, f"/awards/{place}").document()
        except ApiProblem as problem:
            results[place]["problem"] = problem.document()
        else:
            results[place]["outcome"] = "replayed" if accepted.replayed else "accepted"
            results[place]["award"] = answers.queued(entry.award_id, accepted)

    await asyncio.gather(
        *(enter(place, each, tier) for (place, each), tier in zip(considered.items(), tiers, strict=True))
    )
    return results


def _key_of(item: Any) -> str | None:
    key = item.get("idempotency_key") if isinstance(item, dict) else None
    return key if isinstance(key, str) and _IDEMPOTENCY_KEY.fullmatch(key) else None


def idempotency_key_of(request: Request) -> str:
    key = request.headers.get(IDEMPOTENCY_KEY_HEADER, "")
    if not _IDEMPOTENCY_KEY.fullmatch(key):
        raise ApiProblem("idempotency-key-missing")
    return key


def _seconds_to_wait(prefer: str) -> int:
    match = _WAIT.search(prefer)
    return min(int(match[1]), _LONGEST_WAIT_S) if match else 0
