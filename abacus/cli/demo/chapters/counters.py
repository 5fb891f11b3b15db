"""The counters of the demo, over what members buy from the first day on."""

from abacus.cli.demo.counters import definitions
from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.platform.metrics import total
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.counters.metrics import COUNTER_EVENTS
from abacus.signals.events.wiring import built_in_sources


class Counters(Chapter):
    """Cleo publishes them."""

    looks = (Look("cleo", "/counters/demo_points", "points by where they come from, and the largest counts of a day"),)

    async def begin(self) -> None:
        house, self._before = self.house, self._looked_at()
        sources = built_in_sources(house.settings)
        desk = CounterDesk(house.pool, house.clock, sources)
        await desk.publish(await desk.differences(definitions(sources)), house.people["cleo"])

    async def end(self) -> None:
        await self.house.until_done(self._has_looked, "the counter")

    async def _has_looked(self) -> bool:
        """At every transaction."""
        return self._looked_at() - self._before >= self.house.traffic.sent

    def _looked_at(self) -> int:
        return total(COUNTER_EVENTS, topic=self.house.settings.transactions_topic)
