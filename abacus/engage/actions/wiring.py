"""How the receivers of due actions are put together: the award queue, members, the stream of events, webhooks, and
those that rooms above bring.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Final

from abacus.core.signature import Producer
from abacus.engage.actions.action_runner import ActionRunner, Handover, guarded_by
from abacus.engage.actions.action_store import ActionStore
from abacus.engage.actions.calls import CallOutbox, webhooks_of
from abacus.engage.actions.messages import NewsOf
from abacus.engage.actions.receivers import to_award_queue, to_events, to_members, turns_of
from abacus.engage.actions.types import AWARDS, EVENTS, MESSAGES, Guards, WhyStopped
from abacus.engage.actions.webhook_caller import CONCURRENCY, caller
from abacus.engage.downstreams.wiring import Outside
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.renderer import rendering
from abacus.platform.delivery.deliverer import IDLE_S
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.platform.slices import SliceMap
from abacus.platform.sqs.definition import AWARD
from abacus.platform.sqs.queue import Client
from abacus.platform.wiring import Run, Wiring

_RECEIVERS: Final = (AWARDS, AWARDS, MESSAGES, EVENTS)  # while awards are sent, the next are taken
RUNS: Final = len(_RECEIVERS) + 1  # and the webhooks, and one for each receiver that others bring
WEBHOOKS_AT_ONCE: Final = CONCURRENCY.at_once


async def action_runs(
    wiring: Wiring,
    pool: Pool,
    client: Client,
    *,
    producer: Producer,
    guards: Mapping[str, Guards],
    stopped: Mapping[str, WhyStopped],
    news_of: Mapping[str, NewsOf],
    others: Mapping[str, Handover],
    apart: Pool,
    outside: Outside,
    slice_map: SliceMap,
    health: Sequence[WorkerHealth],
) -> list[Run]:
    """One of `health` for each of `RUNS`, and of the `others`, which are receivers by name. Awards are signed by the
    producer. Guards, what is stopped, and news for members are of each kind of owners. Connections of `pool` are held
    while actions are handed over; what is asked meanwhile is asked `apart`.
    """
    clock, downstreams = wiring.clock, outside.downstreams.by_name
    calling, *acting = health
    handover = {
        AWARDS: to_award_queue(wiring.signed_by(producer, await wiring.queue(client, AWARD))),
        MESSAGES: to_members(Notices(pool, clock), await wiring.entered(rendering()), news_of),
        EVENTS: to_events(wiring.publisher().publish, wiring.settings.events_topic),
        **others,
    }
    actions, turns, guarded = ActionStore(pool, clock), turns_of(apart, downstreams, clock), guarded_by(guards, stopped)
    runners = [
        ActionRunner(
            receiver,
            handover[receiver],
            actions,
            guarded,
            turns,
            pool=pool,
            slice_map=slice_map,
            clock=clock,
            health=each,
        )
        for receiver, each in zip((*_RECEIVERS, *others), acting, strict=True)
    ]
    webhooks = caller(
        CallOutbox(pool, clock, lambda: webhooks_of(downstreams())),
        guarded,
        downstreams,
        outside.poster,
        outside.secrets,
        clock=clock,
        health=calling,
        rng=random.Random(),
        idle_s=slice_map.pause_s(IDLE_S),
    )
    return [webhooks.run, *(runner.run for runner in runners)]
