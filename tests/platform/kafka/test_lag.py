"""Only the reader that has a partition reports its lag: the number of calculators follows from the lag."""

import asyncio

from aiokafka import TopicPartition

from abacus.platform.kafka.reader import WaitForBatch
from abacus.platform.metrics import CONSUMER_LAG


async def test_a_partition_that_left_us_has_no_lag_here() -> None:
    CONSUMER_LAG.labels("test-of-lag", "3").set(5)
    CONSUMER_LAG.labels("test-of-lag", "4").set(6)
    left = list[TopicPartition]()
    never_committed = TopicPartition("test-of-lag", 5)
    await WaitForBatch(asyncio.Lock(), left.extend, left.extend).on_partitions_revoked(
        [TopicPartition("test-of-lag", 3), never_committed]
    )
    told = {
        sample.labels["partition"]: sample.value
        for metric in CONSUMER_LAG.collect()
        for sample in metric.samples
        if sample.labels["topic"] == "test-of-lag"
    }
    CONSUMER_LAG.remove("test-of-lag", "4")
    assert told == {"4": 6}
    assert left == [TopicPartition("test-of-lag", 3), never_committed]
