"""The work of the campaigner."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, NamedTuple

from abacus.core.errors import Reason, Refused
from abacus.core.ids import campaign_key, redemption_key
from abacus.documents.decide.states import Act, Status
from abacus.documents.stated import Change
from abacus.documents.store import DocumentStore
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.rewards.decide.redemption import Stage as Stages
from abacus.engage.rewards.decide.redemption import redemption_id
from abacus.oversight.reconcile.rewards import reward_books
from abacus.platform.encryption import Secrets
from abacus.platform.kafka.window import TopicWindow
from abacus.platform.sqs.definition import CAMPAIGN_RETRY
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from abacus.signals.events.wiring import built_in_sources
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.earning_works import QUIET_S
from tests.reliability.chaos.crashes.facts import award_of, paid
from tests.reliability.chaos.crashes.lane import KEYRING, Lane
from tests.reliability.chaos.crashes.service import ASKED_EACH_TIME, RiskService
from tests.reliability.chaos.crashes.work import Work
from tests.support.on_offer import put_in_catalogue, put_on_offer
from tests.support.rewards import load_codes
from tests.support.running_campaigns import run_campaign

_DAY: Final = timedelta(days=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EVENT: Final = "transactions:transaction.completed:rides:"
_MILES: Final = 200
_OWN: Final = parse_source({"source": "house", "senders": ["house"], "types": {"order.praised": {"order": "text"}}})

_SUMS: Final = """
select sum(events)::bigint, sum(points)::bigint from campaign_sum where campaign = $1 and outcome = 'done'
"""
_ACTIONS: Final = """
select count(*) filter (where done_at is not null), count(*) filter (where refused_at is not null), count(*)
from action where owner = $1
"""
_WAITING: Final = """
select count(*) from action where owner like '%\\_' || $1 and done_at is null and refused_at is null
"""
_INVITED: Final = "select key, offer from offer_gift where starts_with(member_id, $1)"
_REDEEMED: Final = """
select reward, stage, points, count(*) from reward_redemption where starts_with(member_id, $1)
group by 1, 2, 3 order by 1, 2
"""


def _of(vertical: str) -> dict[str, Any]:
    return {"operator": "eq", "lhs": "var.vertical", "rhs": vertical}


class _Done(NamedTuple):
    """What a campaign has done."""

    events: int
    points: int
    actions: int
    refused: int = 0


class _Campaigned(Work):
    """Campaigns of a trial, which are ended with it."""

    worker: ClassVar = "campaigner"

    def __init__(self, lane: Lane, mark: str) -> None:
        super().__init__(lane, mark)
        self.now = datetime.now(UTC)
        self._done: dict[str, _Done] = {}

    def order(self, who: str, number: int, vertical: str) -> dict[str, Any]:
        return paid(self.mark, who, number, vertical=vertical, occurred_at=self.now.isoformat())

    async def campaign(self, kind: str, when: dict[str, Any], *do: dict[str, Any], **fields: Any) -> str:
        """Brings a campaign into force; its name."""
        document = {
            "name": f"{kind}_{self.mark}",
            "country": "SG",
            "timezone": "Asia/Singapore",
            "starts_at": (self.now - _DAY).isoformat(),
            "ends_at": (self.now + _DAY).isoformat(),
            "on": ["transaction.completed"],
            "when": when,
            "steps": [{"do": do}],
            "limits": {"unlimited": True},
            **fields,
        }
        await run_campaign(self.lane, **document)
        return str(document["name"])

    def comes_of(self, campaign: str, *, orders: Sequence[dict[str, Any]], points: int, actions: int = 1) -> list[str]:
        """These orders get the points, once each; the keys of the effects."""
        keys = self.comes_of_all(campaign, orders, _Done(len(orders), points * len(orders), actions * len(orders)))
        for order, key in zip(orders, keys, strict=True):
            self.due.post(order["member_id"], key, points)
        return keys

    def comes_of_all(self, campaign: str, orders: Sequence[dict[str, Any]], done: _Done) -> list[str]:
        """The campaign answers to these orders; the keys of the effects."""
        self._done[campaign] = done
        return [f"{campaign_key(campaign, _EVENT + order['transaction_id'])}:1" for order in orders]

    async def is_through(self) -> bool:
        """Whether every event is decided and nothing waits to be done."""
        return (
            await self.lane.is_read(f"campaigner-{self.lane.settings.transactions_topic}")
            and await self.lane.is_empty(CAMPAIGN_RETRY)
            and await self.lane.pool.fetchval(_WAITING, self.mark) == 0
        )

    async def is_done(self) -> bool:
        if await self.is_through():
            await asyncio.sleep(QUIET_S)
            return True
        return False

    async def more_faults(self) -> list[str]:
        """Faults unless each campaign has done what is due, no more and no less; afterwards none is in force."""
        faults = []
        for name, done in self._done.items():
            counted = await self.lane.pool.fetchrow(_SUMS, name)
            *ended, actions = await self.lane.pool.fetchrow(_ACTIONS, name)
            if (there := _Done(*counted, *ended)) != done or actions != sum(ended):
                faults.append(f"{name}: {there} of {actions} actions, and {done} are due")
            with suppress(Refused):
                end = Change("person:ann", datetime.now(UTC))
                await CampaignStore(self.lane.pool).move(name, None, Act.END, end)
        return faults


class CampaignEvents(_Campaigned):
    """Points up to a limit that is met; a message, an event and points that come later, once a member; points by the
    formula, for members of a tier; orders that come twice; and a message that is none.
    """

    name: ClassVar = "events"
    passes: ClassVar = frozenset(
        {
            Stage.RECEIVE,
            Stage.DECIDE,
            Stage.BEGIN,
            Stage.LOCK,
            Stage.CLAIM,
            Stage.INSERT,
            Stage.COMMIT,
            Stage.NOTICE,
            Stage.SEND,
            Stage.PRODUCE,
            Stage.OFFSET_COMMIT,
            Stage.JOIN,
        }
    )

    async def lay_out(self) -> None:
        await self._publish_source()
        self._limited = await self.campaign(
            "limited", _of("food"), {"award": {"points": 5}}, limits={"points": {"overall": 10}}
        )
        rare = {"operator": "gte", "lhs": "campaign.count", "rhs": 100}
        told = await self.campaign(
            "told",
            _of("mart"),
            over="week",
            limits={"runs": {"member": 1, "overall": 1_000}},
            steps=[
                {
                    "every": 2,
                    "do": [
                        {"award": {"points": 7}, "after": "1s", "unless": rare},
                        {"tell": {"en": "Two\nThat was order {{count}}."}},
                        {"publish": {"type": "house/order.praised", "var": {"order": "var.transaction_id"}}},
                    ],
                }
            ],
        )
        of_tier = {"operator": "eq", "lhs": "member.tier", "rhs": "member"}
        new = {"operator": "gte", "lhs": "member.balance", "rhs": 0}
        by_tier = {"operator": "and", "conditions": [_of("rides"), of_tier, new]}
        double = await self.campaign("double", by_tier, {"award": {"multiple": "2"}})
        food = [self.order("ann", number, "food") for number in (1, 2, 3)]
        mart = [self.order("bob", number, "mart") for number in (4, 5, 6, 7)]
        ride = self.order("eve", 8, "rides")
        self._last = self.order("ann", 9, "food")
        garbage = f"{{garbage {self.mark}".encode()
        await self.produce(*food, *mart, ride, garbage, food[0], mart[1], ride)
        self.earns(*food, *mart, ride, self._last)
        self.comes_of(self._limited, orders=food[:2], points=5)
        [self._key] = self.comes_of(told, orders=mart[1:2], points=7, actions=3)
        self.comes_of(double, orders=[ride], points=2 * award_of(self.lane.book, ride).points)
        self.is_bad(Reason.UNDECODABLE, garbage)

    async def follow_up(self) -> None:
        """One more, so that whoever takes over learns that the limit is reached."""
        await self.produce(self._last)

    async def more_faults(self) -> list[str]:
        pool = self.lane.pool
        status = await pool.fetchval("select status from campaign where name = $1", self._limited)
        notices = await pool.fetch("select event_id from notice where starts_with(member_id, $1)", self.mark)
        published = {each["id"] for each in await self._published() if each["member_id"].startswith(self.mark)}
        faults = await super().more_faults()
        if status != Status.EXHAUSTED:
            faults.append(f"{self._limited} is {status}")
        if [row["event_id"] for row in notices] != [f"{self._key}/1"]:
            faults.append(f"{len(notices)} messages are entered")
        if published != {f"{self._key}/2"}:
            faults.append(f"published: {sorted(published)}")
        return faults

    async def _published(self) -> list[dict[str, Any]]:
        settings = self.lane.settings
        window = TopicWindow(
            settings.required("kafka_bootstrap"), settings.events_topic, _EPOCH, datetime.now(UTC) + _DAY
        )
        return [json.loads(message.value) async for batch in window.batches() for message in batch]

    async def _publish_source(self) -> None:
        settings = self.lane.settings
        with suppress(Refused):  # it is there already
            await DocumentStore(self.lane.pool, SOURCES).publish(
                [_OWN],
                Reserved(built_in_sources(settings), settings.events_topic).look,
                by="person:ann",
                now=self.now,
            )


class CampaignRetries(_Campaigned):
    """A service gives no answer at first, so events wait on the queue of campaigns; and a broken envelope is there."""

    name: ClassVar = "events that wait"
    passes: ClassVar = frozenset(
        {
            Stage.RECEIVE,
            Stage.DECIDE,
            Stage.RETRY,
            Stage.QUARANTINE,
            Stage.CLAIM,
            Stage.INSERT,
            Stage.COMMIT,
            Stage.SEND,
            Stage.DELETE,
            Stage.OFFSET_COMMIT,
        }
    )
    paces: ClassVar = ASKED_EACH_TIME

    async def lay_out(self) -> None:
        self._service = RiskService(self.lane, self.mark)
        await self._service.publish(self.now)
        both = {"operator": "and", "conditions": [_of("rides"), self._service.risky]}
        campaign = await self.campaign("risky", both, {"award": {"points": 3}})
        rides = [self.order(who, number, "rides") for number, who in enumerate(("ann", "bob"))]
        broken = f"{{broken {self.mark}"
        await self.lane.send(CAMPAIGN_RETRY, [broken])
        await self.produce(*rides, rides[0])
        self.earns(*rides)
        self.comes_of(campaign, orders=rides, points=3)
        self.due.hold(Reason.UNDECODABLE, broken)

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        async def is_asked_enough() -> bool:
            return self._service.requests >= 4  # both events were asked for twice

        async with self._service.back_when(is_asked_enough):
            yield

    async def is_through(self) -> bool:
        return await self._decided() and await super().is_through()

    async def _decided(self) -> bool:
        """An event on its way back to the queue is nowhere else for a moment."""
        claims = await self.lane.pool.fetchval(
            "select count(*) from campaign_claim where starts_with(member_id, $1)", self.mark
        )
        return bool(claims == 2)

    async def more_faults(self) -> list[str]:
        await self._service.retire()
        return await super().more_faults()


class CampaignGrants(_Campaigned):
    """Each order grants an invitation, a code and points of another program; one code is all that there is."""

    name: ClassVar = "grants"
    passes: ClassVar = frozenset(
        {
            Stage.RECEIVE,
            Stage.DECIDE,
            Stage.BEGIN,
            Stage.LOCK,
            Stage.CLAIM,
            Stage.INSERT,
            Stage.COMMIT,
            Stage.SEND,
            Stage.OFFSET_COMMIT,
        }
    )

    async def lay_out(self) -> None:
        pool, codes = self.lane.pool, f"codes_{self.mark}"
        await load_codes(pool, [f"{self.mark}-1", f"{self.mark}-2"], codes, secrets=Secrets.of(KEYRING))
        once, miles = {"uses": {"overall": 1}}, {"program": "OVO", "points": _MILES}
        self._coffee = await put_in_catalogue(pool, f"coffee_{self.mark}", delivery={"pool": codes}, limits=once)
        self._miles = await put_in_catalogue(pool, f"miles_{self.mark}", delivery=miles)
        self._lunch = await put_on_offer(
            pool, f"lunch_{self.mark}", {"amount_off": "1"}, limits={"unlimited": True}, audience="invitation"
        )
        gifts = {"offer": self._lunch.name}, {"reward": self._coffee.name}, {"reward": self._miles.name}
        granting = await self.campaign("granting", _of("food"), *({"grant": each} for each in gifts))
        orders = [self.order("ann", 1, "food"), self.order("bob", 2, "food")]
        await self.produce(*orders, orders[0])
        self.earns(*orders)
        self._keys = self.comes_of_all(granting, orders, _Done(events=2, points=0, actions=5, refused=1))
        for order, key in zip(orders, self._keys, strict=True):
            self.due.post(order["member_id"], redemption_key(redemption_id(f"{key}/2")), _MILES)

    async def more_faults(self) -> list[str]:
        pool = self.lane.pool
        numbers = await OfferStore(pool).numbers([self._lunch.name])
        invited = sorted(tuple(row) for row in await pool.fetch(_INVITED, self.mark))
        redeemed = [tuple(row) for row in await pool.fetch(_REDEEMED, self.mark)]
        faults = [f"{each.about}: {each.fault}" for each in (await reward_books(pool)).faults]
        if invited != sorted((f"{key}/0", numbers[self._lunch.name]) for key in self._keys):
            faults.append(f"the invitations are {invited}")
        if redeemed != [
            (self._coffee.name, Stages.GIVEN, 0, 1),
            (self._coffee.name, Stages.REFUSED, 0, 1),
            (self._miles.name, Stages.GIVEN, 0, 2),
        ]:
            faults.append(f"the redemptions are {redeemed}")
        return [*faults, *await super().more_faults()]
