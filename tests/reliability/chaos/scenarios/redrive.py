"""The ledger refuses everything until all messages are dead letters; mended, they are sent back and land once."""

from dataclasses import replace
from random import Random
from typing import Final

from abacus.platform.sqs.definition import AWARD
from tests.reliability.chaos.needs import Need
from tests.reliability.chaos.proxies.sqs import SqsFaults
from tests.reliability.chaos.scenarios.scenario import Scenario, Stage
from tests.reliability.chaos.settling import dead, left_in

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
_FAULTS: Final = SqsFaults(duplicate=0.2, late_duplicate=0.05, drop_delete=0.2, partial=0.2, throttle=0.1, timeout=0.05)


async def _play(stage: Stage, rng: Random) -> None:
    ground = stage.ground
    award, letters = await ground.queue(AWARD), await ground.queue(f"{AWARD}-dlq")
    for queue in (award, letters):  # so that ten receives do not take minutes
        await ground.client.set_queue_attributes(QueueUrl=queue.url, Attributes={"VisibilityTimeout": "1"})
    await ground.pool.execute(_REFUSES_ALL)
    await stage.send(stage.messages)

    async def all_dead() -> bool:
        left = await left_in(ground)
        return not (left.unread or left.queued) and await dead(ground) > 0

    await stage.until("all messages of the award queue are dead letters", all_dead, _DEAD_WITHIN_S)
    stage.seen["dead letters"] = await dead(ground)
    stage.hold("nothing is posted while the ledger refuses", if_=await stage.posted() == 0)
    await ground.client.set_queue_attributes(QueueUrl=award.url, Attributes={"VisibilityTimeout": "8"})
    await ground.pool.execute(_MENDED)

    proxies = ground.proxies
    through = replace(ground, settings=proxies.led_through(ground.settings))
    proxies.sqs.faults = _FAULTS

    async def redriven() -> bool:
        """A redrive that SQS lets down ends with 1 and is started again; messages that it moved stay moved."""
        code, told = await through.command("dlq", "redrive", AWARD)
        stage.seen["redrives"] += 1
        stage.hold(
            f"a redrive ends with 0, or with 1 when SQS lets it down, not with {code}: {told}", if_=code in {0, 1}
        )
        if await letters.holds():
            return False
        proxies.sqs.faults = SqsFaults()
        return not ground.held  # a late duplicate of a dead letter is redriven too

    await stage.until("no dead letters", redriven, _REDRIVEN_WITHIN_S)
    proxies.sqs.faults = SqsFaults()
    stage.seen.update(proxies.sqs.struck)


REDRIVE: Final = Scenario(
    "redrive",
    "every posting fails until all awards are dead letters; mended, `abacus dlq redrive` on a bad SQS brings them back",
    _play,
    most=6_000,
    needs=frozenset({Need.PROXIES}),
)
