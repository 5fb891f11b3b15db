"""Changes of tier on the tiers stream: none is lost, and those of an account come in order."""

import asyncio
import json
from collections.abc import Sequence

import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.platform.following.leader import Leader
from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.postgres import Pool
from abacus.programs.tiers.decide.events import TierChanged
from abacus.programs.tiers.publish_changes import change_publisher
from abacus.programs.tiers.store import MembershipStore
from tests.support.fixed_clock import FixedClock
from tests.support.house import until
from tests.support.keeping import NOW, earned, keeper, reversed_
from tests.support.slices import home_on_paper, neighbour
from tests.support.stepping import all_steps, one_step

TOPIC = "tiers"
AMY, EVE, ZOE = (neighbour(name) for name in ("amy", "eve", "zoe"))


class Broker:
    """A broker that keeps the messages; it can be down, or take them all while its answer gets lost."""

    def __init__(self) -> None:
        self.events: list[TierChanged] = []
        self.down = False
        self.unheard = False

    async def connect(self) -> None:
        if self.down:
            raise Unavailable("Kafka", "down")

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        assert topic == TOPIC
        await self.connect()
        for message in messages:
            event = TierChanged.model_validate_json(message.value)
            assert message.key == event.subject.encode()
            self.events.append(event)
        if self.unheard:
            raise Unavailable("Kafka", "no answer")

    @property
    def ids(self) -> list[str]:
        return [event.id for event in self.events]


@pytest.fixture
def broker() -> Broker:
    return Broker()


def publisher(pool: Pool, broker: Broker, health: WorkerHealth | None = None, *, batch: int = 1000) -> Leader:
    """Of the slice that has bob and his neighbours."""
    schema, health = home_on_paper("bob"), health or WorkerHealth("tierkeeper")
    return change_publisher(pool, broker, TOPIC, SystemClock(), health, schema=schema, batch=batch)


async def test_a_change_as_other_programs_see_it(pool: Pool, broker: Broker) -> None:
    await keeper(pool).handle([earned("bob", 1, 310)])
    await MembershipStore(pool, FixedClock(NOW)).set(("bob", "GRP"), "gold", reason="x", actor="x")
    assert await all_steps(pool, publisher(pool, broker)) == 2
    upgrade, override = [json.loads(event.model_dump_json(by_alias=True)) for event in broker.events]
    assert upgrade == {
        "specversion": "1.0",
        "id": "bob:GRP:tier:1",
        "source": "abacus/tiers",
        "type": "abacus.tier.changed.v1",
        "subject": "bob",
        "time": "2026-11-21T00:00:00Z",
        "datacontenttype": "application/json",
        "data": {
            "member_id": "bob",
            "program": "GRP",
            "country": "SG",
            "from": "member",
            "to": "silver",
            "reason": "upgrade",
            "earned": 310,
            "period": {"starts_on": "2026-01-01", "ends_on": "2026-06-30"},
            "until": "2026-12-31",
            "at": "2026-11-21T00:00:00Z",
        },
    }
    assert override["id"] == "bob:GRP:tier:2"
    told = {"from": "silver", "to": "gold", "reason": "override", "earned": None, "period": None, "until": None}
    assert told.items() <= override["data"].items()


async def test_nothing_is_lost_between_the_decision_and_the_broker(pool: Pool, broker: Broker) -> None:
    """A broker is down, or cut off after it took everything: the same events come again, under the same ids."""
    await keeper(pool).handle([earned("bob", 1, 300), earned(EVE, 1, 300)])
    broker.down = True
    with pytest.raises(Unavailable):
        await one_step(pool, publisher(pool, broker))
    broker.down, broker.unheard = False, True
    with pytest.raises(Unavailable):
        await one_step(pool, publisher(pool, broker))
    broker.unheard = False
    assert await all_steps(pool, publisher(pool, broker)) == 2
    assert broker.ids == ["bob:GRP:tier:1", f"{EVE}:GRP:tier:1"] * 2
    assert broker.events[:2] == broker.events[2:]
    assert await all_steps(pool, publisher(pool, broker)) == 0


async def test_each_account_in_order_and_nobody_waits_for_ever(pool: Pool, broker: Broker) -> None:
    publishing = publisher(pool, broker, batch=2)
    up_and_down = [earned("bob", 1, 300), reversed_("bob", 2, 300), earned("bob", 3, 300)]
    await keeper(pool).handle([*up_and_down, earned(ZOE, 1, 300)])
    assert await one_step(pool, publishing) == 2
    await keeper(pool).handle([earned(AMY, 1, 300), reversed_("bob", 4, 300)])
    assert await one_step(pool, publishing) == 2  # goes on with bob: amy, who came later, is before him
    assert await all_steps(pool, publishing) == 2
    assert broker.ids == [f"bob:GRP:tier:{n}" for n in (1, 2, 3, 4)] + [f"{ZOE}:GRP:tier:1", f"{AMY}:GRP:tier:1"]


async def test_of_two_publishers_one_works_at_a_time(pool: Pool, broker: Broker) -> None:
    await keeper(pool).handle([earned(neighbour(f"m{number}-"), 1, 300) for number in range(50)])
    stop = asyncio.Event()
    running = [asyncio.create_task(publisher(pool, broker).run(stop)) for _ in range(3)]
    try:
        await until(lambda: _published(broker, 50))
    finally:
        stop.set()
        await asyncio.gather(*running)
    assert len(set(broker.ids)) == len(broker.ids) == 50


@pytest.mark.long
async def test_a_publisher_that_waits_says_so_and_ends_when_it_is_told_to(pool: Pool, broker: Broker) -> None:
    broker.down = True
    stop, health = asyncio.Event(), WorkerHealth("tierkeeper")
    running = asyncio.create_task(publisher(pool, broker, health).run(stop))
    await until(lambda: _waits(health))
    stop.set()
    await asyncio.wait_for(running, 10)


async def _published(broker: Broker, count: int) -> bool:
    return len(broker.events) >= count


async def _waits(health: WorkerHealth) -> bool:
    return health.state is WorkerState.WAITING
