"""The calls about journeys. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from abacus_client.calls import Call, as_json, checked_key, part
from abacus_client.decode import read_answer
from abacus_client.journey_answers import JourneyEntry, JourneyMember


def enter(
    journey: str, member_id: str, context: Mapping[str, Any] | None, idempotency_key: str | None
) -> Call[JourneyEntry]:
    key = checked_key(idempotency_key)
    body = as_json({"member_id": member_id, "context": dict(context or {})})
    return Call("POST", f"/v1/journeys/{part(journey)}/entries", _entry, body, (key,), headers={"Idempotency-Key": key})


def member(journey: str, member_id: str) -> Call[JourneyMember]:
    return Call("GET", f"/v1/journeys/{part(journey)}/members/{part(member_id)}", _member)


def _entry(answer: httpx.Response, _: Sequence[str]) -> JourneyEntry:
    return read_answer(JourneyEntry, answer)


def _member(answer: httpx.Response, _: Sequence[str]) -> JourneyMember:
    return read_answer(JourneyMember, answer)
