"""The documents in force, as a process last read them."""

from collections.abc import Callable, Collection

from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.topics import InForce, in_force, topics_of


class Documents:
    """What each topic's events are counted by. Raises `Unavailable` as `catalog` does."""

    def __init__(self, catalog: Callable[[], Catalog], events_topic: str) -> None:
        self._catalog = catalog
        self._events_topic = events_topic
        self._of: dict[str, InForce] = {}

    def topics(self) -> Collection[str]:
        """The topics whose events count."""
        return topics_of(self._catalog(), self._events_topic)

    def of(self, topic: str) -> InForce:
        """The same object until a document changes."""
        catalog, known = self._catalog(), self._of.get(topic)
        if known is None or known.catalog is not catalog:
            known = self._of[topic] = in_force(catalog, topic, self._events_topic)
        return known
