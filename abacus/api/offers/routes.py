"""The routes that ask for offers: which there are for some items, and what named ones would save."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import TypeAdapter
from starlette.responses import Response

from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import Call, PersonCall, caller_of
from abacus.api.hot import HotRoute
from abacus.api.lean import LeanRoute
from abacus.api.offers.asked import Items, QualifyAsk, ValidateAsk, items_of, spots_of
from abacus.api.offers.guesses import Guesses
from abacus.api.offers.told import QualifyAnswer, ValidateAnswer, item_told, qualified, validated
from abacus.api.problems import invalid
from abacus.api.route_description import answered
from abacus.core.errors import SetAside
from abacus.engage.offers.codes.shelf import CodeShelf
from abacus.engage.offers.decide.ask import Ask, Scenario
from abacus.engage.offers.qualifier import OtherCountry, Qualifier
from abacus.intake.partners.decide.ask import Objection
from abacus.people.types.deed import Deed
from abacus.platform.loop_turn import LoopTurn

router = APIRouter(prefix="/v1", tags=["offers"], route_class=LeanRoute, default_response_class=Response)


async def qualify_bytes(call: Call | PersonCall, ask: QualifyAsk) -> bytes:
    """The offers of the items, as JSON."""
    may_use(call, ask.country)
    if ask.explain:
        _check_explains(call)
    question = await _question(call, ask.country, ask.items, ask.member_id)
    question = question._replace(scenario=ask.scenario, explains=ask.explain)
    try:
        answer = await call.rooms[Qualifier].qualify(question)
    except OtherCountry as error:
        raise _of_other_country(error) from None
    items, turn = [], LoopTurn()
    for each in answer.items:
        items.append(item_told(each, question.card.card.currency, explains=ask.explain))
        await turn.rest()
    return qualified(items, answer.reading, of_basket=ask.scenario is Scenario.BASKET)


@router.post(
    "/offers/qualify",
    summary="Ask for offers",
    responses=answered({200: (QualifyAnswer, "The offers of each item")}, 415, 422),
)
async def qualify(ask: QualifyAsk, request: Request) -> Response:
    """The best offer of each item, all of them, or the combination that saves most on the basket. What is shown is not
    reserved. With `explain`, which takes a right of its own, offers that came close are told with what they need.
    """
    return Response(await qualify_bytes(caller_of(request), ask), media_type="application/json")


@router.post(
    "/offers/validate",
    summary="Ask what named offers would save",
    responses=answered({200: (ValidateAnswer, "Each offer by itself")}, 415, 422),
)
async def validate(ask: ValidateAsk, request: Request) -> Response:
    """What each of these offers would save on the items by itself, or why not. What depends on the member is told as
    `member` to callers without the right to have it explained.
    """
    call = caller_of(request)
    may_use(call, ask.country)
    if not ask.offers and not ask.codes:
        raise invalid([FieldFault(pointer="/offers", detail="name an offer or a code")])
    qualifier, guesses = call.rooms[Qualifier], call.rooms[Guesses]
    if ask.codes:
        guesses.check(call)
    question = await _question(call, ask.country, ask.items, ask.member_id)
    singles = await call.rooms[CodeShelf].found(qualifier.without_public(ask.country, ask.codes))
    try:
        verdicts = await qualifier.validate(question._replace(codes=ask.codes, singles=singles), ask.offers)
    except OtherCountry as error:
        raise _of_other_country(error) from None
    await guesses.count(call, sum(each.is_code and each.offer is None for each in verdicts.offers))
    ids, currency = [each.id for each in question.items], question.card.card.currency
    return Response(validated(verdicts, ids, currency, explains=_explains(call)), media_type="application/json")


HOT: Final[Mapping[str, HotRoute[Any]]] = {"/v1/offers/qualify": HotRoute(TypeAdapter(QualifyAsk), qualify_bytes)}


def may_use(call: Call | PersonCall, country: str) -> None:
    """Raises `ApiProblem` for a caller who may not ask for offers of the country."""
    if isinstance(call, Call) and not call.partner.may_use_offers:
        raise ApiProblem("offers-not-allowed")
    call.check(Deed.SEE, country)


def _explains(call: Call | PersonCall) -> bool:
    """Whether the caller may hear why an offer fails. A person who may see the country sees its members anyway."""
    return isinstance(call, PersonCall) or call.partner.may_explain_offers


def _check_explains(call: Call | PersonCall) -> None:
    if not _explains(call):
        raise ApiProblem("explain-not-allowed")


async def _question(call: Call | PersonCall, country: str, items: Items, member_id: str | None) -> Ask:
    """Raises `Objection` and `ApiProblem` for what does not fit the country, and `Unavailable`."""
    qualifier = call.rooms[Qualifier]
    try:
        card = qualifier.card(country)
    except SetAside as error:
        raise Objection(str(error.reason), error.detail, "/country") from None
    spots = await spots_of(items, qualifier.spots)
    return Ask(card, items_of(items, card.card, spots), member_id=member_id)


def _of_other_country(error: OtherCountry) -> Objection:
    return Objection("other-country", str(error), "/member_id")
