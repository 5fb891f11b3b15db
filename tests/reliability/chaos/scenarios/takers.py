"""Callers who take offers and redeem rewards over HTTP, and what they were told."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

import httpx

from tests.support.on_offer import TEA
from tests.support.patient import PatientCaller

_MEMBERS_EACH: Final = 4  # callers: their members meet limits of their own
CODED: Final = "coded"
INVITED: Final = "invited"
OFFERS: Final = ("cash", "budget", "bonus", CODED, INVITED)
REWARD: Final = "coffee"
_HELD: Final = {CODED: "held by code", INVITED: "held by invitation"}


class Counters(NamedTuple):
    """The ports of the workers that callers ask, their key, and single codes that they may name."""

    offers: Sequence[int]
    api: Sequence[int]
    key: str
    single_codes: Sequence[str]


@dataclass
class Told:
    """What callers were told, by what it is; a status that no story ends with is a fault."""

    outcomes: Counter[str] = field(default_factory=Counter)
    codes: list[str] = field(default_factory=list)
    redemptions: Counter[str] = field(default_factory=Counter)  # of offers that stand, by offer
    used_codes: Counter[str] = field(default_factory=Counter)  # of these, by single code
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Taker:
    """One caller, who has turns one after the other."""

    number: int
    offers: PatientCaller
    api: PatientCaller
    told: Told
    rng: Random
    single_codes: Sequence[str]

    @property
    def member(self) -> str:
        return member_of(self.number)

    async def take_turns(self, turns: int) -> None:
        for turn in range(turns):
            key = f"{self.number}-{turn}"
            if self.rng.random() < 0.4:  # rewards are fewer
                await self._redeem_reward(key)
            else:
                await self._take_offer(key, self.rng.choice(OFFERS))

    async def _take_offer(self, key: str, offer: str) -> None:
        """Held, and then redeemed, rolled back or released; some never come again."""
        code = self.rng.choice(self.single_codes) if offer == CODED else None
        body = {"member_id": self.member, "item": TEA} | ({} if code is None else {"code": code})
        answer = await self.offers.post(f"offers/{offer}/reservations", key, body)
        self._judge_refusal(offer, answer)
        held = self._expected(answer, _HELD.get(offer, "held"), 201, 409)
        if held is None:
            return
        end = self.rng.choice(("redeem", "redeem", "roll back", "release", "leave"))
        path = f"reservations/{held['reservation_id']}"
        if end == "leave":
            self.told.outcomes["left"] += 1
        elif end == "release":
            self._expected(await self.offers.post(f"{path}/release", key), "released", 200)
        else:
            done = self._expected(await self.offers.post(f"{path}/redeem", key, {"items": [TEA]}), "redeemed", 201)
            if done is not None and end == "roll back":
                back = await self.offers.post(f"redemptions/{done['redemption_id']}/rollback", key)
                self._expected(back, "rolled back", 200)
            elif done is not None:
                self.told.redemptions[offer] += 1
                self.told.used_codes.update([] if code is None else [code])

    async def _redeem_reward(self, key: str) -> None:
        path = f"members/{self.member}/redemptions"
        given = self._expected(await self.api.post(path, key, {"reward": REWARD}), "given", 201, 409)
        if given is None:
            return
        self.told.codes.append(str(given["code"]))
        if self.rng.random() < 0.25:  # a quarter comes back
            self._expected(await self.api.post(f"{path}/{given['redemption_id']}/return", key), "returned", 200)

    def _judge_refusal(self, offer: str, answer: httpx.Response) -> None:
        """A code is refused where another reservation has it, and an offer by invitation to members without one."""
        is_refused = answer.status_code == httpx.codes.CONFLICT
        if offer == CODED and is_refused and answer.json()["reason"] != "code-used":
            self.told.faults.append(f"a code is refused: {answer.text}")
        if offer == INVITED and is_refused == is_invited(self.number):
            self.told.faults.append(f"{self.member} asked by invitation: {answer.status_code} {answer.text}")

    def _expected(self, answer: httpx.Response, what: str, well: int, refused: int = 0) -> dict[str, object] | None:
        """The answer where all is well; None where it is refused."""
        if answer.status_code == well:
            self.told.outcomes[what] += 1
            told: dict[str, object] = answer.json()
            return told
        if answer.status_code == refused:
            self.told.outcomes[f"not {what}"] += 1
        else:
            self.told.faults.append(f"{answer.request.url}: {answer.status_code} {answer.text}")
        return None


def member_of(number: int) -> str:
    return f"taker-{number // _MEMBERS_EACH}"


def is_invited(number: int) -> bool:
    """Each second member is."""
    return number // _MEMBERS_EACH % 2 == 0


async def take(callers: int, turns: int, at: Counters, rng: Random) -> Told:
    """Returns when each caller has had its turns."""
    told = Told()
    async with PatientCaller(at.offers, at.key) as offers, PatientCaller(at.api, at.key) as api:
        takers = [Taker(number, offers, api, told, Random(rng.random()), at.single_codes) for number in range(callers)]
        await asyncio.gather(*(each.take_turns(turns) for each in takers))
        told.outcomes["asked again"] = offers.repeated + api.repeated
    return told
