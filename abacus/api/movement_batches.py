"""The route of many movements in one request."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import MovementsAnswer
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Call
from abacus.api.hot_paths import Address
from abacus.api.idempotency import is_idempotency_key
from abacus.api.lean import LeanRoute
from abacus.api.moves import posted, spender
from abacus.api.problems import problem_for, problem_of, problem_of_item
from abacus.api.route_description import answered
from abacus.core.errors import OF_CARDS, Unavailable
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.partners.calculations import Calculations
from abacus.intake.partners.decide.ask import Objection
from abacus.intake.partners.members import MemberAccount, MemberReader
from abacus.intake.partners.movement_batcher import Fate, MovementBatcher
from abacus.intake.partners.movement_items import (
    READERS,
    Asked,
    CaptureItem,
    HoldItem,
    MovementsAsk,
    ReleaseItem,
    SpendItem,
    movement_of,
    named_twice,
    settlement_of,
)
from abacus.intake.partners.orders import target_of
from abacus.intake.partners.register import Register
from abacus.ledger.store.holds import HoldName, HoldReader
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.movement import Hold, Moved, Movement
from abacus.ledger.types.port import Status
from abacus.ledger.types.transfer import Transfer
from abacus.people.types.deed import Deed

LEAN: Final = (Address("POST", "/v1/movements"),)

Result: TypeAlias = dict[str, Any]
Refusal: TypeAlias = Objection | ApiProblem | Unavailable

router = APIRouter(prefix="/v1", tags=["points"], route_class=LeanRoute, default_response_class=Response)


@router.post(
    "/movements",
    summary="Spend, hold, capture and release, many at once",
    responses=answered({200: (MovementsAnswer, "What became of each")}, 415, 422),
)
async def movements(batch: MovementsAsk, request: Request) -> Response:
    """Up to 100 movements, each under its own key and with its own outcome; those of one member are done in their
    order. The same key and facts give the first answer again. Where an outcome is `unknown`, ask again under the same
    key. A hold is captured or released once, under whichever key.
    """
    return answers.json_answer({"results": await _results(batch.movements, spender(request))})


async def _results(items: Sequence[Any], call: Call) -> list[Result]:
    """The outcome of each item, in order. Raises `Unavailable` when nothing is known of any movement."""
    results: list[Result] = [{"idempotency_key": _key_of(item), "outcome": "refused"} for item in items]
    asked = _readable(items, results)
    decided = await _decided(asked, call)
    movements: dict[int, Movement] = {}
    for place, each in decided.items():
        if isinstance(each, Refusal):
            results[place]["problem"] = _problem_of_refusal(each, place).document()
        else:
            movements[place] = each
    fates = await call.rooms[MovementBatcher].move_all([*movements.values()])
    for place, fate in zip(movements, fates, strict=True):
        if isinstance(fate, Moved) and fate.transfer is not None:
            results[place] |= _done(fate.transfer)
        else:
            results[place] |= await _told(call, fate)
    return results


def _problem_of_refusal(refusal: Refusal, place: int) -> ApiProblem:
    return refusal if isinstance(refusal, ApiProblem) else problem_of(refusal, f"/movements/{place}")


def _key_of(item: Any) -> str | None:
    key = item.get("idempotency_key") if isinstance(item, dict) else None
    return key if isinstance(key, str) and is_idempotency_key(key) else None


def _readable(items: Sequence[Any], results: Sequence[Result]) -> dict[int, Asked]:
    """The items that can be read, by their places; the results say what is wrong with the others."""
    readable: dict[int, Asked] = {}
    for place, item in enumerate(items):
        kind = item.get("kind") if isinstance(item, dict) else None
        # An item of no known kind is told what a spend would be told, and that its kind is none.
        reader = READERS.get(kind, READERS["spend"]) if isinstance(kind, str) else READERS["spend"]
        try:
            readable[place] = reader.validate_python(item)
        except ValidationError as error:
            results[place]["problem"] = problem_of_item(error, f"/movements/{place}").document()
    return readable


async def _decided(asked: Mapping[int, Asked], call: Call) -> dict[int, Movement | Refusal]:
    """The movement of each item, or why there is none. Raises `Unavailable`."""
    twice = named_twice([*asked.items()])
    moving = {place: each for place, each in asked.items() if isinstance(each, SpendItem | HoldItem)}
    settling = {place: each for place, each in asked.items() if isinstance(each, CaptureItem | ReleaseItem)}
    decided = await _moving(moving, call) | await _settling(settling, call)
    reused = {place: _reused(f"/movements/{first} has it with other facts") for place, first in twice.items()}
    return {place: reused.get(place) or decided[place] for place in asked}  # in the order of the items


def _reused(detail: str) -> ApiProblem:
    return ApiProblem("idempotency-key-reused", detail)


async def _moving(asked: Mapping[int, SpendItem | HoldItem], call: Call) -> dict[int, Movement | Refusal]:
    if not asked:
        return {}
    holdings = await call.rooms[MemberReader].holdings_of({each.member_id for each in asked.values()})
    calculations = call.rooms[Calculations]
    by_now = calculations.current()
    decided = {place: _movement(each, holdings[each.member_id], call, by_now) for place, each in asked.items()}
    of_cards = [place for place, each in decided.items() if isinstance(each, Objection) and each.kind in OF_CARDS]
    if of_cards:  # perhaps the card was published a moment ago
        later = await calculations.anew()
        decided |= {place: _movement(asked[place], holdings[asked[place].member_id], call, later) for place in of_cards}
    return decided


def _movement(
    item: SpendItem | HoldItem, held: Sequence[MemberAccount] | BaseException, call: Call, calculator: Calculator
) -> Movement | Refusal:
    if isinstance(held, BaseException):
        return _away(held)
    accounts = [each.account for each in held if call.is_open(Deed.MOVE_POINTS, each.account.country)]
    now = call.access.clock.now()
    try:
        target = target_of(item.member_id, item, accounts, calculator.book, now)
        call.check(Deed.MOVE_POINTS, target.country)
        return movement_of(item, target, call.key(item.idempotency_key), call.agent, now)
    except (Objection, ApiProblem) as refusal:
        return refusal


async def _settling(asked: Mapping[int, CaptureItem | ReleaseItem], call: Call) -> dict[int, Movement | Refusal]:
    if not asked:
        return {}
    keys = {place: call.key(each.idempotency_key) for place, each in asked.items()}
    names = {place: HoldName(each.member_id, each.hold_id) for place, each in asked.items()}
    holds, claims, awards = await asyncio.gather(
        call.rooms[HoldReader].holds(set(names.values()), source=call.partner.source),
        call.rooms[LedgerReader].claims_in_reach(set(keys.values())),
        call.rooms[Register].awards_among(set(keys.values())),
    )
    return {
        place: _reused("the first request was for something else")
        if keys[place] in claims or keys[place] in awards
        else _settlement(each, holds[names[place]], call)
        for place, each in asked.items()
    }


def _settlement(item: CaptureItem | ReleaseItem, held: Hold | BaseException | None, call: Call) -> Movement | Refusal:
    if isinstance(held, BaseException):
        return _away(held)
    return ApiProblem("no-such-hold") if held is None else settlement_of(item, held, call.agent)


def _away(error: BaseException) -> Unavailable:
    """Raises what is no expected failure."""
    if isinstance(error, Unavailable):
        return error
    raise error


def _done(transfer: Transfer, outcome: str = "posted") -> Result:
    return {"outcome": outcome, "movement": answers.moved(transfer)}


async def _told(call: Call, fate: Fate) -> Result:
    """What a result says of a movement."""
    match fate:
        case Moved():
            try:
                transfer = await posted(call, fate)
            except ApiProblem as problem:
                return {"problem": problem.document()}
            except Unavailable as error:
                return {"outcome": "unknown", "problem": problem_of(error).document()}
            return _done(transfer, "replayed" if fate.status is Status.DUPLICATE else "posted")
        case Unavailable():
            return {"outcome": "unknown", "problem": problem_of(fate).document()}
        case _:
            return {"problem": problem_for(fate).document()}
