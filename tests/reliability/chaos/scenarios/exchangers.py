"""Members of two houses who exchange points, one after the other at each of them, and what they were told."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

import httpx

from tests.reliability.chaos.exchanged import Member
from tests.support.patient import PatientCaller

_SECONDS: Final = 10
_AGAIN_AFTER_S: Final = 0.1
_CANCELLED: Final = 0.08
_REVERSED: Final = 0.05
_CALLED_BACK: Final = 0.1


@dataclass
class Exchanged:
    """The outcomes by how callers were told them, and the ids that were held."""

    outcomes: Counter[str] = field(default_factory=Counter)
    held: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Operator:
    """Of the partner: it asks again until there is an answer."""

    def __init__(self, url: str) -> None:
        self._caller = httpx.AsyncClient(base_url=url, timeout=_SECONDS)

    async def ask(self, method: str, path: str, document: object = None) -> httpx.Response:
        while True:
            try:
                return await self._caller.request(method, path, json=document)
            except httpx.TransportError:
                await asyncio.sleep(_AGAIN_AFTER_S)

    async def close(self) -> None:
        await self._caller.aclose()


async def exchange_out(
    caller: PatientCaller, asked: Sequence[tuple[str, Member]], told: Exchanged, rng: Random
) -> None:
    """Each under a key of its own. Some are called off at once, some are undone later."""
    for key, member in asked:
        points = 500 * rng.randint(2, 6)
        quote = await caller.post(
            "exchange-quotes", key, {"member_id": member.member_id, "programme": "skymiles", "points": points}
        )
        if quote.status_code != httpx.codes.CREATED:
            told.faults.append(f"{key}: a quote was answered by {quote.status_code} {quote.text}")
            continue
        answer = await caller.post("exchanges", key, {"quote_id": quote.json()["quote_id"]})
        if answer.status_code not in {httpx.codes.CREATED, httpx.codes.ACCEPTED}:
            told.faults.append(f"{key}: {answer.status_code} {answer.text}")
            continue
        told.held.append(answer.json()["exchange_id"])
        chance = rng.random()
        if chance < _CANCELLED:
            await _undone(caller, told, told.held[-1], "cancel")
        elif chance < _CANCELLED + _REVERSED:
            await _undone(caller, told, rng.choice(told.held), "reverse")


async def exchange_in(operator: Operator, asked: Sequence[tuple[str, Member]], told: Exchanged, rng: Random) -> None:
    """The partner holds, reserves and commits by itself. Some are called back."""
    for id_, member in asked:
        document = {"number": member.number, "points": 100 * rng.randint(10, 30), "id": id_}
        sent = await operator.ask("POST", "/_send", document)
        told.outcomes[f"sent in {sent.status_code}"] += 1
        if rng.random() < _CALLED_BACK:
            await operator.ask("POST", "/_cancel", {"id": id_})
            told.outcomes["called back"] += 1


async def _undone(caller: PatientCaller, told: Exchanged, exchange_id: str, how: str) -> None:
    """Whether that can be done yet, or any more, is a matter of moments."""
    answer = await caller.post(f"exchanges/{exchange_id}/{how}", f"{exchange_id} {how}")
    told.outcomes[f"{how} {answer.status_code}"] += 1
    if answer.status_code not in {httpx.codes.OK, httpx.codes.ACCEPTED, httpx.codes.CONFLICT}:
        told.faults.append(f"{exchange_id}: {how} was answered by {answer.status_code} {answer.text}")
