"""The routes of a member's preferences for messages: the language, the channels and the time zone."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import Response

from abacus.api.answers import json_answer
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Call, call_of
from abacus.api.lean import read_body
from abacus.api.route_description import MemberId, answered, described
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.template import LOCALE_PATTERN
from abacus.engage.notify.preferences import PreferenceStore
from abacus.intake.partners.members import MemberReader
from abacus.platform.validation import Zone

router = APIRouter(prefix="/v1/members", tags=["members"], default_response_class=Response)

Locale = Annotated[str, StringConstraints(pattern=LOCALE_PATTERN)]


class PreferencesAsk(BaseModel):
    """Replaces all preferences; a missing or null field means the default: English, every channel, and
    the time zone of the country.
    """

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"locale": "id", "channels": ["sns"], "zone": "Asia/Jakarta"}, {"channels": []}]
        },
    )

    locale: Locale | None = None
    channels: Annotated[
        list[ChannelName] | None,
        Field(max_length=len(ChannelName), description="None at all, `[]`, means that the member is told nothing."),
    ] = None
    zone: Annotated[
        Zone | None,
        Field(description="A name of the IANA, such as Asia/Jakarta: quiet hours and days are by its clock."),
    ] = None


class PreferencesAnswer(BaseModel):
    """The preferences for messages that are made from now on. `set_by` is the partner that set them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "member_id": "bob",
                    "locale": "id",
                    "channels": ["sns"],
                    "zone": "Asia/Jakarta",
                    "set_by": "acme",
                    "set_at": "2026-01-10T04:30:00Z",
                }
            ]
        }
    )

    member_id: str
    locale: str | None
    channels: list[ChannelName] | None
    zone: str | None
    set_by: str | None
    set_at: datetime | None


@router.get(
    "/{member_id:path}/preferences",
    summary="How a member wants to be told",
    responses=answered({200: (PreferencesAnswer, "The preferences")}, 404, 422),
)
async def preferences(member_id: MemberId, request: Request) -> Response:
    """The preferences of a member that is open to you. Null means the default."""
    call = call_of(request)
    await _check_open(member_id, call)
    return json_answer((await call.rooms[PreferenceStore].get(member_id))._asdict())


@router.put(
    "/{member_id:path}/preferences",
    summary="Say how a member wants to be told",
    responses=answered({200: (PreferencesAnswer, "What holds now")}, 404, 415, 422),
    openapi_extra=described(body=PreferencesAsk),
)
async def set_preferences(member_id: MemberId, request: Request) -> Response:
    """Replace all preferences, for messages that are made from now on."""
    call = call_of(request)
    ask = await read_body(request, PreferencesAsk.model_validate)
    await _check_open(member_id, call)
    preference = await call.rooms[PreferenceStore].set(
        member_id, locale=ask.locale, channels=ask.channels, zone=ask.zone, by=call.partner.partner_id
    )
    return json_answer(preference._asdict())


async def _check_open(member_id: str, call: Call) -> None:
    """A member is open to a partner that has given or taken points of the member's. To a partner that may see others,
    also every member with an account in its countries; a member without any points yet, if the partner may award
    everywhere. Raises `ApiProblem`.
    """
    partner, members = call.partner, call.rooms[MemberReader]
    if partner.may_see_others:
        holdings = await members.holdings(member_id)
        is_open = any(partner.may_award_in(holding.account.country) for holding in holdings)
        is_open |= not holdings and not partner.countries
    else:
        is_open = await members.knows(member_id, partner.source)
    if not is_open:
        raise ApiProblem("not-found", "this member is not open to you: you have moved no points of the member's yet")
