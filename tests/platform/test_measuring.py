"""What is measured from time to time."""

import asyncio

from prometheus_client import CollectorRegistry, Gauge

from abacus.core.errors import Unavailable
from abacus.platform.measuring import keep_measuring, set_series


async def test_it_goes_on_when_the_database_is_back() -> None:
    tried = 0
    measured = asyncio.Event()

    async def measure() -> None:
        nonlocal tried
        tried += 1
        if tried < 3:
            raise Unavailable("database", "away")
        measured.set()

    measuring = asyncio.ensure_future(keep_measuring("parcels", measure, every_s=0))
    await measured.wait()
    measuring.cancel()
    await asyncio.wait((measuring,))
    assert measuring.cancelled()


def test_what_is_gone_is_told_no_more() -> None:
    registry = CollectorRegistry()
    gauge = Gauge("parcels", "Parcels of a shelf", ["shelf"], registry=registry)
    set_series(gauge, {"low": 3, "high": 5})
    set_series(gauge, {"high": 4})
    assert [registry.get_sample_value("parcels", {"shelf": name}) for name in ("low", "high")] == [None, 4]
