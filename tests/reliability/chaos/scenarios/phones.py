"""Phones that ask what is near them at a steady rate, and whether each answer was right when it was given."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Final, NamedTuple, TypeAlias

import httpx

WITHIN_S: Final = 2.0  # an answer
_EVERY_S: Final = 0.1
_MEMBERS: Final = 300  # so many that each is read anew
_TOLD: Final = 5  # faults of a kind

Shown: TypeAlias = Mapping[str, frozenset[str]]  # the offers at each place


class Truth(NamedTuple):
    """What is to be shown: it may be seen from one moment on, and has to be from another."""

    shown: Shown
    from_s: float = -math.inf
    by_s: float = -math.inf


class Answer(NamedTuple):
    """What a phone was shown, when it asked and when it was told. A degraded one says that something may be missing."""

    shown: Shown
    asked_s: float
    told_s: float
    is_degraded: bool = False


def is_right(answer: Answer, truths: Sequence[Truth]) -> bool:
    """Whether it was true at a moment between the question and the answer. Truths follow one another."""
    ends = [after.by_s for _, after in pairwise(truths)] + [math.inf]
    return any(
        truth.shown == answer.shown and truth.from_s <= answer.told_s and answer.asked_s <= end
        for truth, end in zip(truths, ends, strict=True)
    )


@dataclass
class Phones:
    """They ask at one point, each third as a member whom the process does not know yet."""

    url: str
    key: str
    point: tuple[float, float]
    answers: list[Answer] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        """By a clock, whether answers come or not. Each question has ended when the block has."""
        async with self._caller() as caller, asyncio.TaskGroup() as questions:
            clock = asyncio.create_task(self._keep_asking(caller, questions))
            try:
                yield
            finally:
                clock.cancel()

    async def _keep_asking(self, caller: httpx.AsyncClient, questions: asyncio.TaskGroup) -> None:
        begun = time.monotonic()
        for number in count():
            questions.create_task(self._ask(caller, number))
            await asyncio.sleep(begun + (number + 1) * _EVERY_S - time.monotonic())

    async def _ask(self, caller: httpx.AsyncClient, number: int) -> None:
        lat, lon = self.point
        member = {} if number % 3 else {"member_id": f"phone-{number % _MEMBERS}"}
        asked_s = time.monotonic()
        try:
            answer = await caller.get("/v1/nearby", params={"lat": lat, "lon": lon, "radius": 50_000, **member})
        except httpx.HTTPError as error:
            self.unanswered.append(repr(error))
            return
        if answer.status_code != httpx.codes.OK:
            self.unanswered.append(f"{answer.status_code} {answer.text}")
            return
        told = answer.json()
        shown = {each["id"]: frozenset(offer["offer"] for offer in each["offers"]) for each in told["places"]}
        self.answers.append(Answer(shown, asked_s, time.monotonic(), told["degraded"]))

    def _caller(self) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.AsyncClient(base_url=self.url, headers=headers, timeout=WITHIN_S)

    def outcomes(self, truths: Sequence[Truth]) -> Counter[str]:
        degraded = sum(each.is_degraded for each in self.answers)
        slowest_s = max((each.told_s - each.asked_s for each in self.answers), default=0.0)
        news = truths[-1]
        seen_s = min((each.told_s for each in self.answers if each.shown == news.shown), default=math.inf)
        return Counter(
            {
                "answers near a point": len(self.answers),
                "degraded": degraded,
                "ms the slowest": round(slowest_s * 1000),
                **({} if math.isinf(seen_s) else {"ms until the news": round((seen_s - news.from_s) * 1000)}),
            }
        )

    def faults(self, truths: Sequence[Truth]) -> list[str]:
        wrong = [each for each in self.answers if not each.is_degraded and not is_right(each, truths)]
        late = [each for each in self.answers if each.told_s - each.asked_s > WITHIN_S]
        return [
            *([f"{len(wrong)} answers are wrong, such as {wrong[:_TOLD]} of {truths}"] if wrong else []),
            *([f"{len(late)} answers took longer than {WITHIN_S} s"] if late else []),
            *([f"{len(self.unanswered)} have no answer: {self.unanswered[:_TOLD]}"] if self.unanswered else []),
        ]
