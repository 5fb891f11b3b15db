"""The Kafka protocol on loopback: librdkafka's mock cluster in a child process."""

from collections.abc import Mapping
from pathlib import Path

from abacus.platform.embedded.child import Child
from abacus.platform.embedded.extra import demand


class EmbeddedKafka:
    """One broker that keeps records in memory, and not for long.

    A partition keeps its newest 5 MiB, as sent: when a producer is further ahead of a consumer than that, the oldest
    records vanish without an error. A topic that a client creates by using it gets 4 partitions, so 20 MiB. Name a
    topic in `topics` with more partitions to give it more room, compress, and let a fast producer wait for the
    consumers. A fetch that finds nothing is answered when its longest wait is over, whatever arrives meanwhile.

    There is no CreateTopics. A group takes about its session timeout to notice a change of members; members that
    share an event loop may be refused, because the leader is heard before the others.
    """

    def __init__(self, log: Path, topics: Mapping[str, int] | None = None) -> None:
        arguments = [f"{topic}:{partitions}" for topic, partitions in (topics or {}).items()]
        self._child = Child("Kafka", "abacus.platform.embedded.kafka_broker", arguments, log)
        self.bootstrap: str | None = None

    async def start(self) -> str:
        """Start serving and come back with the broker's host:port."""
        demand("Kafka", "confluent_kafka")
        self.bootstrap = await self._child.start()
        return self.bootstrap

    async def stop(self) -> None:
        """Stop serving; the records are gone."""
        self.bootstrap = None
        await self._child.stop()
