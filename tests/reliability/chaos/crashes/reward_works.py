"""The work of the API for rewards: callers redeem, cancel and return, under one key until there is an answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import ClassVar, Final

import httpx

from abacus.core.errors import Unavailable
from abacus.core.ids import redemption_key
from abacus.core.sources import Agent
from abacus.engage.downstreams.decide.downstream_document import parse_downstream
from abacus.engage.downstreams.store import DownstreamStore
from abacus.engage.rewards.decide.draft import Ask
from abacus.engage.rewards.decide.redemption import Stage as Stages
from abacus.engage.rewards.decide.redemption import redemption_id
from abacus.engage.rewards.decide.reward import Reward
from abacus.ledger.types.movement import Moved
from abacus.oversight.reconcile.rewards import reward_books
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.encryption import Secrets
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.lane import KEYRING
from tests.reliability.chaos.crashes.work import Work
from tests.support.downstreams import publish_downstream
from tests.support.on_offer import put_in_catalogue, put_on_offer
from tests.support.patient import PatientCaller
from tests.support.rewards import Counter, load_codes
from tests.support.shop import new_partner

_PRICE: Final = 5
_CODES: Final = 3
_HANDED_OVER: Final = 3  # a fulfiller is asked, and called off; points of another program
_UNFINISHED: Final = """
select count(*) from reward_redemption where starts_with(member_id, $1)
    and stage in ('opened', 'taken', 'releasing', 'cancelling', 'returning')
"""
_LONG_AGO: Final = (
    "update reward_redemption set changed_at = now() - interval '1 minute' where starts_with(member_id, $1)"
)
_STAGES: Final = "select member_id, stage from reward_redemption where starts_with(member_id, $1) order by member_id"
_COME_TO: Final = {
    "ann": Stages.RETURNED,
    "bob": Stages.CANCELLED,
    "eve": Stages.GIVEN,
    "gus": Stages.GIVEN,
    "kim": Stages.REFUSED,
    "lea": Stages.REFUSED,
    "nia": Stages.GIVEN,
    "ola": Stages.RETURNED,
    "pam": Stages.GIVEN,
}
_ACTIONS: Final = "select count(*) from action where owner_kind = 'reward' and starts_with(member_id, $1)"
_DONE: Final = "update action set done_at = now() where owner_kind = 'reward' and starts_with(member_id, $1)"


class _LedgerAway:
    """`MovesPort` of a process that cannot reach the ledger."""

    async def move(self, _: object) -> list[Moved]:
        raise Unavailable("ledger", "away")


class Redemptions(Work):
    """One redemption is returned, one is cancelled, one is left unfinished by another process; some are invitations and
    points of another program; the last find no code, or too few points.
    """

    worker: ClassVar = "api"
    name: ClassVar = "redemptions"
    passes: ClassVar = frozenset({Stage.DECIDE, Stage.BEGIN, Stage.LOCK, Stage.CLAIM, Stage.INSERT, Stage.COMMIT})

    async def lay_out(self) -> None:
        pool = self.lane.pool
        self._key = await new_partner(pool, f"shop-{self.mark}")
        self._pool_name, self._webhook = f"codes_{self.mark}", f"vouchers_{self.mark}"
        secrets = Secrets.of(KEYRING)
        await load_codes(pool, (f"{self.mark}-{n}" for n in range(_CODES)), self._pool_name, secrets=secrets)
        draft = parse_downstream(
            {"name": self._webhook, "kind": "webhook", "url": "http://127.0.0.1:9/"}, to_private=True
        )
        await publish_downstream(pool, draft, new_secret(), self.lane.clock.now())
        price, coffee, voucher = {"points": _PRICE}, {"pool": self._pool_name}, {"webhook": self._webhook}
        self._coffee = await put_in_catalogue(pool, f"coffee_{self.mark}", price=price, delivery=coffee)
        self._voucher = await put_in_catalogue(pool, f"voucher_{self.mark}", price=price, delivery=voucher)
        invited = await put_on_offer(
            pool, f"invited_{self.mark}", {"amount_off": "1"}, limits={"unlimited": True}, audience="invitation"
        )
        lunch, rides = {"offer": invited.name}, {"program": "OVO", "points": 200}
        self._lunch = await put_in_catalogue(pool, f"lunch_{self.mark}", price=price, delivery=lunch)
        self._rides = await put_in_catalogue(pool, f"rides_{self.mark}", price=price, delivery=rides)
        for number, who in enumerate(_COME_TO):
            await self.earlier(who, number)
        await self._leave_unfinished()
        self._pays("ann", "capture", "back")
        self._pays("bob", "capture", "back")
        self._pays("eve", "capture")
        self._pays("gus", "capture")
        self._pays("kim", "release")
        self._pays("nia", "capture")
        self._pays("ola", "capture", "back")
        self._pays("pam", "capture")

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        self._calling = asyncio.create_task(self._call())
        yield

    async def is_done(self) -> bool:
        return self._calling.done() and await self.lane.pool.fetchval(_UNFINISHED, self.mark) == 0

    async def is_through(self) -> bool:
        return await self.is_done()

    async def more_faults(self) -> list[str]:
        self._calling.cancel()
        told = await asyncio.gather(self._calling, return_exceptions=True)
        faults = [f"callers were told: {fault!r}" for fault in told if fault is not None]
        stages = {
            row["member_id"].removeprefix(f"{self.mark}-"): row["stage"]
            for row in await self.lane.pool.fetch(_STAGES, self.mark)
        }
        if stages != _COME_TO:
            faults.append(f"the redemptions are {stages}")
        books = await reward_books(self.lane.pool)
        faults += [f"{each.about}: {each.fault}" for each in books.faults]
        if (calls := await self.lane.pool.fetchval(_ACTIONS, self.mark)) != _HANDED_OVER:
            faults.append(f"{calls} actions are handed over")
        await self.lane.owner.execute(_DONE, self.mark)  # no other work may hand it over
        await DownstreamStore(self.lane.pool).retire(self._webhook, by="person:ann", now=self.lane.clock.now())
        return faults

    def _pays(self, who: str, *then: str) -> None:
        """The points are held, and then this becomes of them."""
        points = {"capture": -_PRICE, "back": _PRICE, "release": 0}
        of = redemption_key(redemption_id(self._redemption_key(who)))
        for what in ("hold", *then):
            self.due.post(self._member(who), f"{of}:{what}", points.get(what, 0))

    def _member(self, who: str) -> str:
        return f"{self.mark}-{who}"

    def _redemption_key(self, who: str) -> str:
        return f"api:shop-{self.mark}:{who}"

    async def _leave_unfinished(self) -> None:
        """Another process has begun a redemption, and never came to its points."""
        at, agent = Counter(self.lane.pool, [self._coffee], moves=_LedgerAway()), Agent("shop", "partner:shop")
        with suppress(Unavailable):
            ask = Ask(self._redemption_key("gus"), self._member("gus"), self._coffee.name, 1, None, agent)
            await at.desk.redeem(ask, await at.standings(self._member("gus")))
        await self.lane.owner.execute(_LONG_AGO, self.mark)

    async def _call(self) -> None:
        async with PatientCaller([self.lane.settings.api_port], self._key) as caller:
            await asyncio.gather(
                self._back(caller, "ann", self._coffee, "return"),
                self._back(caller, "bob", self._voucher, "cancel"),
                self._redeem(caller, "eve", self._coffee),
                self._redeem(caller, "nia", self._lunch),
                self._back(caller, "ola", self._lunch, "return"),
                self._redeem(caller, "pam", self._rides),
                self._redeem(caller, "lea", self._coffee, status=409, quantity=100),
            )
            while await self.lane.pool.fetchval(_UNFINISHED, self.mark):  # noqa: ASYNC110  # by the worker
                await asyncio.sleep(0.05)
            await self._redeem(caller, "kim", self._coffee, status=409)

    async def _redeem(
        self, caller: PatientCaller, who: str, reward: Reward, *, status: int = 201, quantity: int = 1
    ) -> httpx.Response:
        body = {"reward": reward.name, "quantity": quantity}
        answer = await caller.post(f"members/{self._member(who)}/redemptions", who, body)
        assert answer.status_code == status, f"{who}: {answer.status_code} {answer.text}"
        return answer

    async def _back(self, caller: PatientCaller, who: str, reward: Reward, how: str) -> None:
        id_ = (await self._redeem(caller, who, reward)).json()["redemption_id"]
        answer = await caller.post(f"members/{self._member(who)}/redemptions/{id_}/{how}", "")
        assert answer.status_code == httpx.codes.OK, f"{who}: {answer.status_code} {answer.text}"
