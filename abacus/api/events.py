"""The routes that take events of senders without Kafka."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Body, Request
from pydantic import BaseModel, ConfigDict, Field, SkipValidation, TypeAdapter, ValidationError
from starlette.responses import Response

from abacus.api import answers
from abacus.api.answer_schemas import EventAnswer, EventBatchAnswer
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import Call, PersonCall, call_of, partner_of
from abacus.api.award_entries import check_newcomer
from abacus.api.hot import HotRoute
from abacus.api.lean import LeanRoute
from abacus.api.problems import MOST_IN_BATCH, invalid, problem_of_item
from abacus.api.route_description import answered
from abacus.core.errors import Reason
from abacus.intake.partners.decide.ask import Objection
from abacus.signals.events.decide.form import EventFault
from abacus.signals.events.decide.message import EXAMPLE, EventMessage
from abacus.signals.events.decide.posted import NotASender
from abacus.signals.events.event_desk import EventDesk
from abacus.signals.events.types import Event

_TAKEN: Final = 202
_ITEM: Final[TypeAdapter[EventMessage]] = TypeAdapter(EventMessage)

router = APIRouter(prefix="/v1", tags=["events"], route_class=LeanRoute, default_response_class=Response)


class EventBatch(BaseModel):
    """Many events; each succeeds or fails by itself."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"events": [EXAMPLE]}]})

    # The items are not validated here but one by one, so that a bad item does not spoil its neighbours.
    events: Annotated[list[SkipValidation[EventMessage]], Field(min_length=1, max_length=MOST_IN_BATCH)]


@router.post(
    "/events",
    status_code=_TAKEN,
    summary="Say that something happened",
    responses=answered({202: (EventAnswer, "The broker has the event")}, 415, 422),
)
async def post_event(event: Annotated[EventMessage, Body()], request: Request) -> Response:
    """An event of a source that names you as a sender. The event's own key, made of its source, type and id, makes it
    safe to post it again: it is counted once within a day.
    """
    return Response(await _posted(call_of(request), event), _TAKEN, media_type="application/json")


async def _posted(call: Call | PersonCall, event: EventMessage) -> bytes:
    partner = partner_of(call)
    read = await _read(event, partner)
    await partner.rooms[EventDesk].post([read])
    return orjson.dumps({"key": read.key})


HOT: Final[Mapping[str, HotRoute[Any]]] = {"/v1/events": HotRoute(_ITEM, _posted, _TAKEN)}


@router.post(
    "/events/batch",
    status_code=_TAKEN,
    summary="Say that many things happened",
    responses=answered({202: (EventBatchAnswer, "The broker has the accepted events")}, 415, 422),
)
async def post_events(batch: EventBatch, request: Request) -> Response:
    """Up to 1,000 events. The answer says for each, in their order, whether it was accepted. When the broker is away,
    none is: post all of them again.
    """
    call = call_of(request)
    results, accepted = await _read_all(batch.events, call)
    if accepted:
        await call.rooms[EventDesk].post(accepted)
    return answers.json_answer({"results": results}, _TAKEN)


async def _read_all(items: Sequence[Any], call: Call) -> tuple[list[dict[str, Any]], list[Event]]:
    results: list[dict[str, Any]] = []
    accepted: list[Event] = []
    for place, item in enumerate(items):
        within = f"/events/{place}"
        try:
            event = await _read(_ITEM.validate_python(item), call, within)
        except ValidationError as error:
            problem = problem_of_item(error, within)
            results.append({"outcome": "refused", "problem": problem.document()})
        except ApiProblem as problem:
            results.append({"outcome": "refused", "problem": problem.document()})
        else:
            results.append({"outcome": "accepted", "key": event.key})
            accepted.append(event)
    return results, accepted


async def _read(message: EventMessage, call: Call, within: str = "") -> Event:
    """Raises `ApiProblem`, and `Unavailable` when the sources were never read."""
    access = call.access
    try:
        event = await access.rooms[EventDesk].read(message, call.partner.partner_id, access.clock.now())
    except NotASender as error:
        raise ApiProblem("source-not-allowed", str(error)) from None
    except EventFault as error:
        fault = FieldFault(pointer=within + error.pointer, detail=error.message)
        if error.reason is Reason.IN_THE_FUTURE:
            raise ApiProblem("in-the-future", str(fault.detail), errors=[fault]) from None
        raise invalid([fault]) from None
    if event.member_id is not None:
        try:
            await check_newcomer(event.member_id, access)
        except Objection as error:
            raise invalid([FieldFault(pointer=within + error.pointer, detail=error.detail)]) from None
    return event
