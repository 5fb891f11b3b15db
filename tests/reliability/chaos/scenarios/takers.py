"""Callers who take offers and redeem rewards over HTTP, and what they were told."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

import httpx

from tests.support.on_offer import TEA
from tests.support.patient import PatientCaller

_MEMBERS_EACH: Final = 4  # callers: their members meet limits of their own
OFFERS: Final = ("cash", "budget", "bonus")
REWARD: Final = "coffee"


@dataclass
class Told:
    """What callers were told, by what it is; a status that no story ends with is a fault."""

    outcomes: Counter[str] = field(default_factory=Counter)
    codes: list[str] = field(default_factory=list)
    redemptions: Counter[str] = field(default_factory=Counter)  # of offers, by offer
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Taker:
    """One caller, who has turns one after the other."""

    number: int
    offers: PatientCaller
    api: PatientCaller
    told: Told
    rng: Random

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
        body = {"member_id": self.member, "item": TEA}
        held = self._expected(await self.offers.post(f"offers/{offer}/reservations", key, body), "held", 201, 409)
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

    async def _redeem_reward(self, key: str) -> None:
        path = f"members/{self.member}/redemptions"
        given = self._expected(await self.api.post(path, key, {"reward": REWARD}), "given", 201, 409)
        if given is None:
            return
        self.told.codes.append(str(given["code"]))
        if self.rng.random() < 0.25:  # a quarter comes back
            self._expected(await self.api.post(f"{path}/{given['redemption_id']}/return", key), "returned", 200)

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


async def take(callers: int, turns: int, ports: Mapping[str, Sequence[int]], key: str, rng: Random) -> Told:
    """Returns when each caller has had its turns."""
    told = Told()
    async with PatientCaller(ports["offers"], key) as offers, PatientCaller(ports["api"], key) as api:
        takers = [Taker(number, offers, api, told, Random(rng.random())) for number in range(callers)]
        await asyncio.gather(*(each.take_turns(turns) for each in takers))
        told.outcomes["asked again"] = offers.repeated + api.repeated
    return told
