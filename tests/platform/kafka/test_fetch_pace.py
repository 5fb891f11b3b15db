"""The broker gathers messages while many come, and answers the first after a quiet time at once."""

import pytest
from aiokafka import AIOKafkaConsumer

from abacus.platform.kafka.fetch_pace import AT_ONCE, GATHERED, FetchPace, Wait, apply
from tests.support.services import Services


# Each poll: how long after the last one it came, and how many messages it brought.
@pytest.mark.parametrize(
    ("polls", "wait"),
    [
        ([], AT_ONCE),
        ([(0.1, 10_000)], AT_ONCE),
        ([(0.25, 250)], GATHERED),
        ([(0.25, 249)], AT_ONCE),
        ([(0.02, 25)] * 11, GATHERED),
        ([(0.02, 15)] * 11, AT_ONCE),
        ([(0.25, 2000), (0.1, 0)], GATHERED),
        ([(0.25, 2000), (0.2, 0)], AT_ONCE),
        ([(0.25, 2000), (0.01, 50), (0.2, 10)], AT_ONCE),
        ([(5.0, 1)], AT_ONCE),
        ([(5.0, 1), (0.25, 1000)], GATHERED),
        ([(5.0, 2000)], AT_ONCE),
    ],
    ids=[
        "nothing yet",
        "too soon to say",
        "a thousand a second",
        "not quite",
        "many small polls",
        "few small polls",
        "a moment's pause",
        "silence",
        "fewer",
        "one after a long silence",
        "then many",
        "a burst after a silence",
    ],
)
def test_how_long_the_broker_waits(polls: list[tuple[float, int]], wait: Wait) -> None:
    now = 0.0
    pace = FetchPace(lambda: now)
    for after, messages in polls:
        now += after
        assert pace.read(messages) is pace.wait
    assert pace.wait is wait


async def test_a_consumer_that_runs_takes_it(services: Services) -> None:
    consumer = AIOKafkaConsumer("quiet", bootstrap_servers=services.kafka_bootstrap)
    await consumer.start()
    try:
        fetcher = vars(consumer._fetcher)  # noqa: SLF001  # as `apply` does; a version of aiokafka may rename them
        assert {"_fetch_min_bytes", "_fetch_max_wait_ms"} <= fetcher.keys()
        apply(GATHERED, consumer)
        assert (fetcher["_fetch_min_bytes"], fetcher["_fetch_max_wait_ms"]) == GATHERED
    finally:
        await consumer.stop()


def test_a_log_that_is_no_brokers_is_left_alone() -> None:
    apply(GATHERED, object())
