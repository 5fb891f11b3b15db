"""Poison on the topic and on the queues: messages behind it are posted at once, and it ends where people see it."""

import json
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, Final

from abacus.core.errors import Reason
from abacus.ledger.types.award_envelope import encode_award
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.quarantine.types import AWARD_QUEUE, RETRY_QUEUE
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.packer import pack
from tests.reliability.chaos.scenarios.scenario import Scenario, Stage
from tests.reliability.chaos.settling import dead, left_in
from tests.reliability.chaos.workload import Aside, Awarded, award_of, calculator_by, cards

# One award that the ledger has to refuse, and one that makes posting fail in a way that nobody foresaw.
_POISONED: Final = """
alter table claim add constraint chaos_refused check (key <> '{refused}') not valid;
create function chaos_hopeless() returns trigger language plpgsql as $$
begin
    if new.key = '{hopeless}' then
        raise exception 'a fault of ours';
    end if;
    return new;
end $$;
create trigger chaos_hopeless before insert on claim for each row execute function chaos_hopeless();
"""
_MENDED: Final = """
alter table claim drop constraint chaos_refused;
drop trigger chaos_hopeless on claim;
drop function chaos_hopeless;
"""
_NEIGHBOURS: Final = 20
_TOO_LARGE: Final = 70 * 1024
_FAILS_WITHIN_S: Final = 60.0
_AT_ONCE_S: Final = 60.0
_DEAD_WITHIN_S: Final = 240.0
_FAILED: Final = b"message failed"


async def _play(stage: Stage, rng: Random) -> None:
    ground = stage.ground
    # Far apart, so that they do not travel together.
    refused, hopeless = (_key(stage, rng.choice(_once(stage, stage.third(third)))) for third in (0, 1))
    await ground.pool.execute(_POISONED.format(refused=refused, hopeless=hopeless))
    await stage.send(stage.third(0))
    await _poison_queues(stage, _once(stage, stage.third(2))[:_NEIGHBOURS])
    await _poison_topic(stage)
    await stage.send(stage.third(1))
    awarders = ground.crew.named("awarder")

    async def failed() -> bool:
        return any(_FAILED in worker.told for worker in awarders)

    await stage.until("posting fails for the hopeless award", failed, _FAILS_WITHIN_S)
    await stage.send(stage.third(2))
    after = {_key(stage, message) for message in stage.third(2) if isinstance(stage.fates[message.value], Awarded)}

    async def posted_after() -> bool:
        return int(await ground.pool.fetchval("select count(*) from claim where key = any($1)", after)) == len(after)

    await stage.until("what came after is posted", posted_after, _AT_ONCE_S)

    async def all_dead() -> bool:
        return await dead(ground) > 0 and not (await left_in(ground)).queued

    await stage.until("the message of the hopeless award is a dead letter", all_dead, _DEAD_WITHIN_S)
    stage.seen["dead letters"] = await dead(ground)
    stage.hold("one message is a dead letter", if_=await dead(ground) == 1)
    reasons = "select reason from quarantine where status = 'held' and key = $1"
    stage.hold(
        "the refused award is in the quarantine, unpostable",
        if_=await ground.pool.fetchval(reasons, refused) == Reason.UNPOSTABLE,
    )
    await ground.pool.execute(_MENDED)
    for command in (("dlq", "redrive", AWARD), ("quarantine", "replay", "--reason", Reason.UNPOSTABLE)):
        code, told = await ground.command(*command)
        stage.hold(f"{' '.join(command)} ends with 0, not {code}: {told}", if_=code == 0)


def _once(stage: Stage, messages: Sequence[StreamMessage]) -> list[StreamMessage]:
    """Messages that are posted in any case: good ones whose key no other message has."""
    times = Counter(_key(stage, message) for message in stage.messages)
    return [message for message in messages if times[_key(stage, message)] == 1]


def _key(stage: Stage, message: StreamMessage) -> str | None:
    fate = stage.fates[message.value]
    return fate.key if isinstance(fate, Awarded) else None


async def _poison_queues(stage: Stage, neighbours: Sequence[StreamMessage]) -> None:
    """The poison; in it an envelope with one bad award, whose good neighbours come in the stream too, later."""
    ground = stage.ground
    calculator = calculator_by(cards())
    awards = [encode_award(award_of(message, calculator)) for message in neighbours]
    bad: dict[str, Any] = {**json.loads(awards[0]), "key": "txn:rides:BAD", "points": -5}
    [mixed] = pack("awards", [*awards[:10], json.dumps(bad).encode(), *awards[10:]])
    version = mixed.replace('{"v":1', '{"v":99', 1)
    for queue, origin, poison in (
        (AWARD, AWARD_QUEUE, (("\u00ff\u2603 {garbage", Reason.UNDECODABLE), ("[]", Reason.INVALID))),
        (AWARD, AWARD_QUEUE, ((version, Reason.UNSUPPORTED), (mixed, Reason.INVALID))),
        (RETRY, RETRY_QUEUE, (('{"v":1,"retr', Reason.UNDECODABLE), ('{"v":99,"retries":[]}', Reason.UNSUPPORTED))),
    ):
        await (await ground.queue(queue)).send([body for body, _ in poison])
        stage.aside.update(f"{origin}: {reason}" for _, reason in poison)
        stage.seen[f"poison on the {origin}"] += len(poison)


async def _poison_topic(stage: Stage) -> None:
    bodies = {
        b"": Reason.UNDECODABLE,
        b"\x00\xff\xfe": Reason.UNDECODABLE,
        b"[" * 5_000: Reason.UNDECODABLE,
        b'"' + b"x" * _TOO_LARGE + b'"': Reason.UNDECODABLE,
        b"[]": Reason.INVALID,
        b"null": Reason.INVALID,
        b'{"type": 5}': Reason.INVALID,
    }
    stage.fates = {**stage.fates, **{body: Aside(reason) for body, reason in bodies.items()}}
    stage.seen["poison on the topic"] += len(bodies)
    await stage.send([StreamMessage(b"m00001", body) for body in bodies])


POISON: Final = Scenario(
    "poison",
    "garbage on the topic and the queues, a bad award among good ones, one that is refused, one that always fails",
    _play,
    most=12_000,
)
