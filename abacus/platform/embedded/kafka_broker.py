"""The child process that serves Kafka. Run as `python -m abacus.platform.embedded.kafka_broker [TOPIC:PARTITIONS…]`.

confluent-kafka can start librdkafka's mock cluster from Python, but not set anything about it. The C functions that
can are exported by the same library, so this calls them directly.
"""

import os
import sys
from collections.abc import Iterable
from ctypes import CDLL, c_char_p, c_int, c_int32, c_size_t, c_void_p, create_string_buffer

from confluent_kafka import cimpl

from abacus.platform.embedded.lifeline import Lifeline

_PRODUCER = 0
_SETTINGS = {"test.mock.num.brokers": "1", "log_level": "0"}
# How long a group waits for more members before its first assignment. Kafka's own default is 3 s, which one notices at
# each start; long enough that workers which start together are assigned together.
_FIRST_ASSIGNMENT_AFTER_MS = 200
_ERROR_BYTES = 512


class _MockCluster:
    """The handful of librdkafka's functions that a mock cluster takes."""

    def __init__(self) -> None:
        # Looking a symbol up through the extension module finds it in the librdkafka that this module is linked with.
        self._library = library = CDLL(cimpl.__file__)
        library.rd_kafka_conf_new.restype = c_void_p
        library.rd_kafka_conf_set.argtypes = [c_void_p, c_char_p, c_char_p, c_char_p, c_size_t]
        library.rd_kafka_new.argtypes = [c_int, c_void_p, c_char_p, c_size_t]
        library.rd_kafka_new.restype = c_void_p
        library.rd_kafka_handle_mock_cluster.argtypes = [c_void_p]
        library.rd_kafka_handle_mock_cluster.restype = c_void_p
        library.rd_kafka_mock_cluster_bootstraps.argtypes = [c_void_p]
        library.rd_kafka_mock_cluster_bootstraps.restype = c_char_p
        library.rd_kafka_mock_topic_create.argtypes = [c_void_p, c_char_p, c_int, c_int]
        self._cluster = library.rd_kafka_handle_mock_cluster(self._client())
        if self._cluster is None:
            raise SystemExit("librdkafka made no mock cluster")

    def _client(self) -> int:
        error = create_string_buffer(_ERROR_BYTES)
        settings = self._library.rd_kafka_conf_new()
        for name, value in _SETTINGS.items():
            if self._library.rd_kafka_conf_set(settings, name.encode(), value.encode(), error, _ERROR_BYTES) != 0:
                raise SystemExit(f"librdkafka refuses {name}={value}: {error.value.decode()}")
        client: int | None = self._library.rd_kafka_new(_PRODUCER, settings, error, _ERROR_BYTES)
        if client is None:
            raise SystemExit(f"librdkafka does not start: {error.value.decode()}")
        return client

    def assign_after(self, milliseconds: int) -> None:
        """Set the delay before a group's first assignment; an older librdkafka keeps its 3 s."""
        setter = getattr(self._library, "rd_kafka_mock_group_initial_rebalance_delay_ms", None)
        if setter is not None:
            setter.argtypes = [c_void_p, c_int32]
            setter.restype = None
            setter(self._cluster, milliseconds)

    def create(self, topic: str, partitions: int) -> None:
        """Create a topic before any client can create it with the default number of partitions."""
        # librdkafka would make a topic without partitions, which no record can ever be sent to.
        if partitions < 1 or self._library.rd_kafka_mock_topic_create(self._cluster, topic.encode(), partitions, 1):
            raise SystemExit(f"there cannot be a topic {topic!r} with {partitions} partitions")

    @property
    def bootstrap(self) -> str:
        """The broker's host:port."""
        address: bytes = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster)
        return address.decode()


def main(topics: Iterable[str]) -> None:
    """Serve on a port that the kernel picks until the parent is gone."""
    lifeline = Lifeline()
    cluster = _MockCluster()
    cluster.assign_after(_FIRST_ASSIGNMENT_AFTER_MS)
    for topic in topics:
        name, _, partitions = topic.rpartition(":")
        cluster.create(name, int(partitions))
    lifeline.announce(cluster.bootstrap)
    lifeline.hold()
    os._exit(0)  # there is nothing to save


if __name__ == "__main__":
    main(sys.argv[1:])
