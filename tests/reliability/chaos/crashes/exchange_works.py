"""The work of the exchanger: a partner is asked, and points are captured, released, given back and awarded."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from functools import partial
from typing import Any, ClassVar, Final
from uuid import UUID

from abacus.core.sources import Agent, partner_source
from abacus.exchanges.decide.exchange import UNSETTLED, State, award_key, ledger_key
from abacus.exchanges.decide.inbound import Taker
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.exchange_rows import exchange_of
from abacus.exchanges.inbound_desk import InboundDesk
from abacus.exchanges.inbound_rows import InboundRows
from abacus.exchanges.link_desk import Wanted
from abacus.exchanges.types import Account
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.oversight.reconcile.exchanges import exchange_books
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.encryption import Secrets
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.lane import KEYRING
from tests.reliability.chaos.crashes.work import Work
from tests.support.exchange_house import ExchangeHouse, prefund
from tests.support.exchanges import SKYMILES, AskedPartner, agree_on_programme, around, linking
from tests.support.fixed_clock import FixedClock
from tests.support.partner_sim import Partner, partner_sim
from tests.support.shop import new_partner

_POINTS: Final = 5
_MILES: Final = 2
_COMES: Final = 3  # for two miles
_TERMS: Final = {"minimum": 5, "multiple": 5, "maximum": 100, "give": 5, "get": 2, "price": "0.01"}
_BACK: Final = {"minimum": 2, "multiple": 2, "maximum": 100, "give": 2, "get": 3, "price": "0.01"}
_NUMBERS: Final = {"ann": "400000001", "bob": "000000001", "eve": "400000003", "gus": "400000004"}
_COME_TO: Final = {
    "ann": State.CAPTURED,
    "bob": State.RELEASED,  # its account there is closed
    "eve": State.REVERSED,
    "gus": State.AWARDED,
    "kim": State.DROPPED,
}
_OPEN: Final = ", ".join(f"'{each}'" for each in (*UNSETTLED, State.RESERVED))
_UNFINISHED: Final = f"select count(*) from exchange where programme = $1 and state in ({_OPEN})"
# What a worker that died had taken is due again.
_TIME_PASSES: Final = "update exchange set due_at = now() where programme = $1 and due_at > now()"
_STATES: Final = "select * from exchange where programme = $1 and state <> 'quoted'"
_LEFT: Final = """
update exchange set expires_at = now() - interval '1 second', due_at = now()
where programme = $1 and member_id = $2
"""


class _House(ExchangeHouse):
    """Where members have linked their accounts."""

    def __init__(self, links: dict[str, UUID], *of: Any, **more: Any) -> None:
        super().__init__(*of, **more)
        self.links = links

    async def _link_of(self, programme: str, member_id: str) -> UUID:
        return self.links[member_id]


class Exchanges(Work):
    """One exchange is credited, one refused, one undone; of two that come in one is committed, and one is left."""

    worker: ClassVar = "exchanger"
    name: ClassVar = "exchanges"
    passes: ClassVar = frozenset(
        {*(Stage.DECIDE, Stage.BEGIN, Stage.LOCK, Stage.CLAIM, Stage.INSERT, Stage.COMMIT), Stage.ASK, Stage.SEND}
    )

    async def lay_out(self) -> None:
        pool, clock = self.lane.pool, self.lane.clock
        self._open = AsyncExitStack()
        self._air, self._partner_id = f"air_{self.mark}", f"air-{self.mark}"
        secret, secrets = new_secret(), Secrets.of(KEYRING)
        await new_partner(pool, self._partner_id, may_exchange=True)
        await WebhookStore(pool, clock, secrets).set(self._partner_id, "https://air.example/hooks", secret)
        self._partner: Partner = await self._open.enter_async_context(partner_sim(secret=secret))
        document = {
            **SKYMILES,
            "name": self._air,
            "partner": self._partner_id,
            "carrier": {"url": self._partner.url},
            "reverses_for": "30d",
            "out": _TERMS,
            "in": _BACK,
        }
        self._programme = await agree_on_programme(pool, document)
        await prefund(pool, self._air, Decimal(1000))
        links = linking(pool, clock, self._programme, partner=AskedPartner(), secrets=secrets)
        agent, of = Agent("shop", partner_source("shop")), dict[str, UUID]()
        for number, (who, account) in enumerate(_NUMBERS.items()):
            await self.earlier(who, number)
            asked = await links.ask(self._member(who), Wanted(self._air, Account(account)), agent)
            of[self._member(who)] = (await links.verify(asked, None, agent)).link_id
        self._house = _House(of, pool, self._programme, clock=FixedClock(clock.now()))
        for who in ("ann", "bob", "eve"):
            held = await self._house.exchange(_POINTS, self._member(who), key=f"{self.mark}-{who}")
            self._pays(who, held.exchange_id)
        await self._come_in(of[self._member("gus")])

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        self._undoing = asyncio.create_task(self._undo())
        yield

    async def follow_up(self) -> None:
        await self.lane.owner.execute(_TIME_PASSES, self._air)

    async def is_done(self) -> bool:
        return self._undoing.done() and await self.lane.pool.fetchval(_UNFINISHED, self._air) == 0

    async def is_through(self) -> bool:
        return await self.is_done()

    async def more_faults(self) -> list[str]:
        self._undoing.cancel()
        told = await asyncio.gather(self._undoing, return_exceptions=True)
        faults = [f"undoing was told: {fault!r}" for fault in told if fault is not None]
        rows = [exchange_of(row) for row in await self.lane.pool.fetch(_STATES, self._air)]
        states = {each.member_id.removeprefix(f"{self.mark}-"): each.state for each in rows}
        if states != _COME_TO:
            faults.append(f"the exchanges are {states}")
        miles = [await self._partner.balance(_NUMBERS[who]) for who in ("ann", "bob", "eve")]
        if miles != [_MILES, 0, 0]:
            faults.append(f"the partner has credited {miles}")
        ours = {str(each.exchange_id) for each in rows} | {self._air}
        books = await exchange_books(self.lane.pool)
        faults += [f"{each.about}: {each.fault}" for each in books.faults if each.about.split()[0] in ours]
        await self._open.aclose()
        return faults

    def _member(self, who: str) -> str:
        return f"{self.mark}-{who}"

    def _pays(self, who: str, exchange_id: UUID) -> None:
        acts = {"hold": 0, "release": 0} if who == "bob" else {"hold": 0, "capture": -_POINTS}
        for act, points in (acts | ({"reverse": _POINTS} if who == "eve" else {})).items():
            self.due.post(self._member(who), ledger_key(exchange_id, act), points)

    async def _come_in(self, link_id: UUID) -> None:
        """One is committed; the other is for a member of its own, and the partner comes never again."""
        rows = InboundRows(self.lane.pool, self._house.version_of, self.lane.clock)
        takers = _Takers({"gus": Taker(link_id, self._member("gus")), "kim": Taker(link_id, self._member("kim"))})
        desk = InboundDesk(self.lane.pool, self.lane.clock, rows, takers, partial(_in_force, self._programme))
        for who in ("gus", "kim"):
            await desk.reserve(self._partner_id, who, who, _MILES)
        await desk.commit(self._partner_id, "gus")
        await self.lane.owner.execute(_LEFT, self._air, self._member("kim"))
        self.due.post(self._member("gus"), award_key(self._partner_id, "gus"), _COMES)

    async def _undo(self) -> None:
        """As soon as it is captured, or its capture was heard of; asked by another process."""
        query = "select * from exchange where programme = $1 and member_id = $2 and state <> 'quoted'"
        while True:
            row = await self.lane.pool.fetchrow(query, self._air, self._member("eve"))
            exchange = exchange_of(row)
            if exchange.state is State.CAPTURED:
                self._house.clock.set(self.lane.clock.now())
                await self._house.desk.reverse(exchange, Agent("shop", partner_source("shop")))
                return
            await asyncio.sleep(0.05)


class _Takers:
    """`Takers`: accounts have the names of members."""

    def __init__(self, takers: dict[str, Taker]) -> None:
        self._takers = takers

    async def taker_of(self, programme: str, account: str) -> Taker | None:
        return self._takers.get(account)

    async def facts_of(self, partner: str, account: str, theirs: int) -> str:
        return f"{partner} {account} {theirs}"


def _in_force(programme: Programme) -> Programmes:
    return Programmes([InForce(programme, around())])
