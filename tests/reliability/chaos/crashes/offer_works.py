"""The work of the offers: callers take them over HTTP, again and again under one key until there is an answer."""

import asyncio
import itertools
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import ClassVar, Final
from uuid import UUID

import httpx

from abacus.core.codes import drawn
from abacus.core.ids import redemption_key
from abacus.engage.limits.pot_rows import used
from abacus.engage.offers.codes.pools import batch_states
from abacus.engage.offers.decide.offer import OWNER_KIND
from abacus.engage.offers.decide.reservation import Gain, Wish
from abacus.engage.offers.reservations import Reservations, pots_of_offers
from abacus.oversight.reconcile.offers import compared_offers
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import snapshot
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.lane import KEYRING
from tests.reliability.chaos.crashes.work import Work
from tests.support.on_offer import TEA, put_on_offer, put_on_offer_by_codes
from tests.support.patient import PatientCaller
from tests.support.shop import new_partner

_LIMIT: Final = 6
_AGAIN_AFTER_S: Final = 0.2
_OVERDUE: Final = "select count(*) from offer_reservation where status = 'held' and until <= now()"
_ACTIONS: Final = "select key from action where owner_kind = 'offer' and starts_with(member_id, $1)"
_DROPPED: Final = "update action set refused_at = now() where owner_kind = 'offer' and starts_with(member_id, $1)"


class OffersTaken(Work):
    """An offer is redeemed and rolled back in parts, another is released, two are taken together, one gives points, a
    reservation is overdue, and one code goes from hand to hand; then a limit is met.
    """

    worker: ClassVar = "offers"
    name: ClassVar = "taking"
    passes: ClassVar = frozenset({Stage.DECIDE, Stage.BEGIN, Stage.LOCK, Stage.INSERT, Stage.COMMIT})

    async def lay_out(self) -> None:
        self._key = await new_partner(self.lane.pool, f"shop-{self.mark}", may_use_offers=True)
        limits = {"uses": {"overall": _LIMIT, "member": 2}}
        self._cash = await put_on_offer(self.lane.pool, f"cash_{self.mark}", {"amount_off": "1"}, limits=limits)
        self._bonus = await put_on_offer(
            self.lane.pool, f"bonus_{self.mark}", {"points_plus": 50}, limits={"unlimited": True}
        )
        self._code = drawn(random.randrange)
        secrets = Secrets.of(KEYRING)
        self._coded = await put_on_offer_by_codes(self.lane.pool, f"coded_{self.mark}", [self._code], secrets)
        await self._leave_overdue()

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        self._calling = asyncio.create_task(self._call())
        yield

    async def is_done(self) -> bool:
        return self._calling.done() and await self.lane.pool.fetchval(_OVERDUE) == 0

    async def is_through(self) -> bool:
        return await self.is_done()

    async def more_faults(self) -> list[str]:
        self._calling.cancel()
        told = await asyncio.gather(self._calling, return_exceptions=True)
        faults = [f"callers were told: {fault!r}" for fault in told if fault is not None]
        async with snapshot(self.lane.pool) as connection:
            pots = await used(connection, OWNER_KIND, [self._cash.name], None)
            compared = await compared_offers(connection)
        taken = sorted((pot.period, amounts.runs) for pot, amounts in pots.items())
        if taken != [("", _LIMIT)]:
            faults.append(f"of {_LIMIT} uses {taken} are taken")
        faults += [f"{each.what}: {each.counted}, {each.other}" for each in compared if each.counted != each.other]
        # What a process that died knew of the end is seen when the time of the reservation is over.
        codes = [(each.used + each.held, each.free) for each in await batch_states(self.lane.pool, [self._coded.name])]
        if codes != [(1, 0)]:
            faults.append(f"the codes that are taken and free: {codes}")
        actions = [row["key"] for row in await self.lane.pool.fetch(_ACTIONS, self.mark)]
        if actions != [redemption_key(UUID(self._rewarded))]:
            faults.append(f"points are given as {actions}")
        await self.lane.owner.execute(_DROPPED, self.mark)  # no other work may hand it over
        return faults

    async def _leave_overdue(self) -> None:
        """Somebody has reserved, and never came again."""
        pool, at = self.lane.pool, self.lane.clock.now() - timedelta(minutes=11)
        pots = pots_of_offers(pool, 0)

        async def nothing_to_let_go(_: object) -> int:
            return 0

        gone = Wish(
            self._cash,
            f"{self.mark}-gone",
            f"partner:shop-{self.mark}",
            f"reservation:shop-{self.mark}:gone:0",
            "facts",
            json.dumps([TEA]),
            Gain("SGD", 1_000_000),
            at,
            at + timedelta(minutes=10),
        )
        reservations = Reservations(pool, self.lane.clock, pots, nothing_to_let_go, slot=0)
        await reservations.reserve([gone])
        await reservations.close()

    async def _call(self) -> None:
        async with PatientCaller([self.lane.settings.offers_port], self._key) as caller:
            await asyncio.gather(
                self._rolled_back(caller), self._released(caller), self._together(caller), self._by_code(caller)
            )
            for number in range(_LIMIT - 1):  # one use stands
                await self._held(caller, f"last-{number}")
            refused = await self._reserve(caller, "last-one")
            _expect(refused, 409)

    async def _rolled_back(self, caller: PatientCaller) -> None:
        redemption = await self._redeemed(caller, await self._held(caller, "ann"))
        path = f"redemptions/{redemption}/rollback"
        for key, body, back in (("a", {"saves": "0.40"}, "0.40"), ("b", None, "1.00")):
            answer = _expect(await caller.post(path, f"{self.mark}-{key}", body), 200)
            assert answer.json()["saves_rolled_back"] == back, answer.text

    async def _released(self, caller: PatientCaller) -> None:
        _expect(await caller.post(f"reservations/{await self._held(caller, 'bob')}/release", "release"), 200)

    async def _by_code(self, caller: PatientCaller) -> None:
        """A code that was let go is there for the next, and not for the one behind."""
        first = _expect(await self._reserve_by_code(caller, "cid"), 201).json()["reservation_id"]
        _expect(await caller.post(f"reservations/{first}/release", "release"), 200)
        tries = itertools.count()
        while (held := await self._reserve_by_code(caller, f"dan-{next(tries)}")).status_code != httpx.codes.CREATED:
            assert held.json()["reason"] == "code-used", held.text
            await asyncio.sleep(_AGAIN_AFTER_S)
        await self._redeemed(caller, held.json()["reservation_id"])
        _expect(await self._reserve_by_code(caller, "eli"), 409)

    async def _reserve_by_code(self, caller: PatientCaller, who: str) -> httpx.Response:
        body = {"member_id": f"{self.mark}-{who}", "item": TEA, "code": self._code}
        return await caller.post(f"offers/{self._coded.name}/reservations", f"{self.mark}-{who}", body)

    async def _together(self, caller: PatientCaller) -> None:
        names = [self._cash.name, self._bonus.name]
        body = {"member_id": f"{self.mark}-eve", "items": [TEA], "offers": names}
        held = _expect(await caller.post("offer-reservations", f"{self.mark}-eve", body), 201).json()["reservations"]
        for each in held:
            redeemed = await self._redeemed(caller, each["reservation_id"])
            if each["offer"] == self._bonus.name:
                self._rewarded = redeemed

    async def _reserve(self, caller: PatientCaller, who: str) -> httpx.Response:
        body = {"member_id": f"{self.mark}-{who}", "item": TEA}
        return await caller.post(f"offers/{self._cash.name}/reservations", f"{self.mark}-{who}", body)

    async def _held(self, caller: PatientCaller, who: str) -> str:
        return str(_expect(await self._reserve(caller, who), 201).json()["reservation_id"])

    async def _redeemed(self, caller: PatientCaller, reservation_id: str) -> str:
        answer = await caller.post(f"reservations/{reservation_id}/redeem", "redeem", {"items": [TEA]})
        return str(_expect(answer, 201).json()["redemption_id"])


def _expect(answer: httpx.Response, status: int) -> httpx.Response:
    assert answer.status_code == status, f"{answer.request.url}: {answer.status_code} {answer.text}"
    return answer
