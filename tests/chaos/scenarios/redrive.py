"""The ledger refuses everything until all messages are dead letters; mended, they are sent back and land once."""

from dataclasses import replace
from random import Random
from typing import Final

from abacus.queues.definition import AWARD
from tests.chaos.proxies.sqs import SqsFaults, SqsProxy
from tests.chaos.scenarios.scenario import Scenario, Stage
from tests.chaos.settling import dead

_REFUSES_ALL: Final = """
create function chaos_refuse_all() returns trigger language plpgsql as $$
begin
    raise exception 'a fault of ours';
end $$;
create trigger chaos_refuse_all before insert on claim for each row execute function chaos_refuse_all();
"""
_MENDED: Final = "drop trigger chaos_refuse_all on claim; drop function chaos_refuse_all"
_DEAD_WITHIN_S: Final = 300.0
_REDRIVEN_WITHIN_S: Final = 240.0
_FAULTS: Final = SqsFaults(duplicate=0.2, drop_delete=0.2, partial=0.2, throttle=0.1, timeout=0.05)


async def _play(stage: Stage, rng: Random) -> None:
    house = stage.house
    award, letters = await house.queue(AWARD), await house.queue(f"{AWARD}-dlq")
    for queue in (award, letters):  # so that ten receives do not take minutes
        await house.client.set_queue_attributes(QueueUrl=queue.url, Attributes={"VisibilityTimeout": "1"})
    await house.pool.execute(_REFUSES_ALL)
    await stage.send(stage.messages)

    async def all_dead() -> bool:
        return await dead(house) > 0 and not await award.holds() and await _all_read(stage)

    await stage.until("all messages of the award queue are dead letters", all_dead, _DEAD_WITHIN_S)
    stage.seen["dead letters"] = await dead(house)
    stage.hold("nothing is posted while the ledger refuses", if_=await stage.posted() == 0)
    await house.client.set_queue_attributes(QueueUrl=award.url, Attributes={"VisibilityTimeout": "30"})
    await house.pool.execute(_MENDED)

    async with SqsProxy(house.settings.sqs_endpoint_url or "", _FAULTS, rng.randrange(1000), late_after_s=5) as proxy:
        through = replace(house, settings=house.settings.model_copy(update={"sqs_endpoint_url": proxy.url}))

        async def redriven() -> bool:
            """A redrive that SQS lets down ends with 1 and is asked for again; what it had moved stays moved."""
            code, told = await through.command("dlq", "redrive", AWARD)
            stage.seen["redrives"] += 1
            stage.seen["moved"] += told.get("moved", 0)
            stage.hold(f"a redrive ends with 0 or 1, not {code}", if_=code in {0, 1})
            return not await letters.holds()

        await stage.until("no dead letters", redriven, _REDRIVEN_WITHIN_S)
        stage.seen.update(proxy.struck)


async def _all_read(stage: Stage) -> bool:
    from tests.chaos.settling import left_in

    return not (await left_in(stage.house)).unread


REDRIVE: Final = Scenario(
    "redrive",
    "every posting fails until all awards are dead letters; mended, `abacus dlq redrive` on a bad SQS brings them back",
    _play,
    most=6_000,
)
