"""Copies the events that somebody asks for out of large topics, so that nobody else has to read those."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import partial
from typing import Final

from abacus.bootstrap import Service
from abacus.engage.campaigns.wiring import campaigns_in_use
from abacus.platform.following.topics import FollowedTopics
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.offsets import begins_since
from abacus.platform.kafka.window import committed
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.wiring import Run, Wiring
from abacus.signals.counters.decide.topics import asked_by_counters
from abacus.signals.counters.wiring import counters_in_use
from abacus.signals.events.decide.substream import Asked, joined
from abacus.signals.events.substream import LargeTopics, SubstreamCopier

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
_GROUP: Final = "substream"
_MOST_RECORDS: Final = 20_000
_GATHER_S: Final = 0.05


async def wire(wiring: Wiring) -> Run:
    settings = wiring.settings
    bootstrap = settings.required("kafka_bootstrap")
    pool = await wiring.pool(size=2)
    counters, campaigns = counters_in_use(wiring, pool), campaigns_in_use(wiring, pool)
    publisher = wiring.publisher()
    large = LargeTopics(
        _Together(lambda: asked_by_counters(counters.value()), campaigns.asked),
        settings.events_topic,
    )

    def follow(topic: str, health: WorkerHealth) -> Run:
        group = f"{_GROUP}-{topic}"

        async def first_since(partitions: Collection[int], moment: datetime) -> Mapping[int, int]:
            return (await begins_since(bootstrap, topic, partitions, [moment]))[moment]

        copier = SubstreamCopier(
            topic,
            large,
            CountedQuarantine(QuarantineStore(pool, wiring.clock)),
            first_since=first_since,
            committed=partial(committed, bootstrap, topic, settings.queue_prefix + group),
            publish=publisher.publish,
            clock=wiring.clock,
            health=health,
        )
        return wiring.following(
            topic, group, copier.handle, health, max_records=_MOST_RECORDS, gather_s=_GATHER_S, places=copier
        )

    return FollowedTopics(large.topics, follow, wiring.health).run


class _Together:
    """What counters and campaigns ask for; the same object until one of them asks for something else."""

    def __init__(self, counters: Callable[[], Asked], campaigns: Callable[[], Asked]) -> None:
        self._counters = counters
        self._campaigns = campaigns
        self._known: tuple[Asked, Asked, Asked] | None = None

    def __call__(self) -> Asked:
        of_counters, of_campaigns = self._counters(), self._campaigns()
        if self._known is None or self._known[0] is not of_counters or self._known[1] is not of_campaigns:
            self._known = of_counters, of_campaigns, joined(of_counters, of_campaigns)
        return self._known[2]
