"""`/metrics` says the state of each worker, so that an alert sees the breaker stop the line."""

import httpx

from abacus.api.health import health_app
from abacus.core.errors import Unavailable
from abacus.platform.health import Health


async def test_the_state_of_each_worker_is_on_metrics() -> None:
    health = Health(["calculator", "relay"])
    transport = httpx.ASGITransport(health_app(health))
    async with httpx.AsyncClient(transport=transport, base_url="http://probe") as prometheus:

        async def states() -> set[str]:
            lines = (await prometheus.get("/metrics")).text.splitlines()
            told = [line for line in lines if line.startswith("abacus_worker_state{") and line.endswith(" 1.0")]
            return {line.partition(" ")[0] for line in told if "calculator" in line or "relay" in line}

        health.worker("calculator").ready()
        health.worker("relay").waiting(Unavailable("kafka", "no answer"))
        assert await states() == {
            'abacus_worker_state{state="ready",worker="calculator"}',
            'abacus_worker_state{state="waiting",worker="relay"}',
        }
        health.worker("calculator").stopped("98 of the last 100 messages would be quarantined")
        health.worker("relay").ready()
        assert await states() == {
            'abacus_worker_state{state="stopped",worker="calculator"}',
            'abacus_worker_state{state="ready",worker="relay"}',
        }
