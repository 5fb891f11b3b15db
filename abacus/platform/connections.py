"""The connections of a worker's pools, as the metrics tell them: to each server, and how many are idle."""

from abacus.platform.metrics import POOL_CONNECTIONS, POOL_IDLE, SERVERS_AWAY
from abacus.platform.pool.sliced_pool import Noted, SlicedPool


class Connections:
    """Of all pools of one worker. They are counted when they are opened and when they end."""

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._pools: list[SlicedPool] = []
        POOL_IDLE.labels(worker).set_function(lambda: sum(pool.idle for pool in self._pools))

    @property
    def noted(self) -> Noted:
        """For the pools that the worker opens."""
        return Noted(
            lambda server, more: POOL_CONNECTIONS.labels(self._worker, server).inc(more),
            lambda server, more: SERVERS_AWAY.labels(server).inc(more),
        )

    def opened(self, pool: SlicedPool) -> None:
        self._pools.append(pool)
