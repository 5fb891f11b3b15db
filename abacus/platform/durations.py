"""A histogram of many durations at once."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector
from prometheus_client.utils import INF, floatToGoString


class Durations(Collector):
    """Shown as `prometheus_client.Histogram` shows it, without a lock for each value, which is too dear for single
    awards.
    """

    def __init__(
        self, name: str, documentation: str, *, buckets: Sequence[float], registry: CollectorRegistry = REGISTRY
    ) -> None:
        self._name, self._documentation = name, documentation
        self._bounds: Final = tuple(buckets)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0
        registry.register(self)

    def observe_all(self, seconds: Iterable[float]) -> None:
        for each in seconds:
            self._counts[bisect_left(self._bounds, each)] += 1
            self._sum += each

    def collect(self) -> Iterable[HistogramMetricFamily]:
        names = map(floatToGoString, (*self._bounds, INF))
        buckets = list(zip(names, map(float, accumulate(self._counts)), strict=True))
        yield HistogramMetricFamily(self._name, self._documentation, buckets=buckets, sum_value=self._sum)
