"""The id that a broker gives a topic when it is created: a topic that was deleted and created anew has another one.

KIP-516 put it into version 10 of Metadata; the client's own request ends at version 5.
"""

import asyncio
from io import BytesIO
from typing import Any, Final, NamedTuple
from uuid import UUID

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import IncompatibleBrokerVersion, UnknownTopicOrPartitionError, for_code
from aiokafka.protocol.abstract import AbstractType
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Boolean, CompactArray, CompactString, Int16, Int32, Schema, TaggedFields

from abacus.core.errors import AbacusError, Unavailable
from abacus.platform.kafka.offsets import broker_failures
from abacus.platform.kafka.reader import DEPENDENCY

_METADATA: Final = 3
_VERSION: Final = 12  # the first in which a topic without a name is an error, and not a mistake of the encoding
_ANSWER_WITHIN_MS: Final = 5_000
_NONE: Final = UUID(int=0)
_TEXT: Final = CompactString("utf-8")
_NO: Final = False
_TAGS: Final = ("tags", TaggedFields)


class _Uuid(AbstractType[UUID]):
    @classmethod
    def encode(cls, value: UUID) -> bytes:
        return value.bytes

    @classmethod
    def decode(cls, data: BytesIO) -> UUID:
        return UUID(bytes=data.read(16))


class _MetadataResponse(Response):
    API_KEY = _METADATA
    API_VERSION = _VERSION
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("brokers", CompactArray(("node_id", Int32), ("host", _TEXT), ("port", Int32), ("rack", _TEXT), _TAGS)),
        ("cluster_id", _TEXT),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("name", _TEXT),
                ("topic_id", _Uuid),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", CompactArray(Int32)),
                        ("isr", CompactArray(Int32)),
                        ("offline_replicas", CompactArray(Int32)),
                        _TAGS,
                    ),
                ),
                ("authorized_operations", Int32),
                _TAGS,
            ),
        ),
        _TAGS,
    )


class _MetadataStruct(RequestStruct):
    API_KEY = _METADATA
    API_VERSION = _VERSION
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = _MetadataResponse
    SCHEMA = Schema(
        ("topics", CompactArray(("topic_id", _Uuid), ("name", _TEXT), _TAGS)),
        ("allow_auto_topic_creation", Boolean),
        ("include_topic_authorized_operations", Boolean),
        _TAGS,
    )


class _MetadataRequest(Request[_MetadataStruct]):
    API_KEY = _METADATA

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def build(self, request_struct_class: type[_MetadataStruct]) -> _MetadataStruct:
        return request_struct_class([(_NONE, self._topic, {})], _NO, _NO, {})


class NoTopicIds(AbacusError):
    """The broker tells no ids: Kafka does since 2.8."""


class TopicIds:
    """Asks the brokers that lead a topic's partitions, over connections of its own, which it opens when it is first
    asked and closes after a failure.
    """

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._client: AIOKafkaClient | None = None
        self._starting = asyncio.Lock()

    async def of(self, topic: str) -> UUID | None:
        """The topic's id; None while there is no such topic. What a reader got before the call is of the topic of this
        id, or of an older one. Raises `Unavailable`, and `NoTopicIds`.
        """
        try:
            async with broker_failures():
                client = await self._started()
                asked = client.get_random_node()
                first = await _ask(client, asked, topic)
                # Another broker may hear of a deletion later than a leader that serves the new topic already.
                others = await asyncio.gather(*(_ask(client, each, topic) for each in first.leaders - {asked}))
        except Unavailable:
            await self.close()
            raise
        if any(each.id != first.id for each in others):
            raise Unavailable(DEPENDENCY, f"the brokers do not agree yet on the id of the topic {topic}")
        return first.id

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _started(self) -> AIOKafkaClient:
        async with self._starting:  # followers of several topics ask at once
            if self._client is None:
                client = AIOKafkaClient(bootstrap_servers=self._bootstrap, request_timeout_ms=_ANSWER_WITHIN_MS)
                try:
                    await client.bootstrap()
                except BaseException:
                    await client.close()
                    raise
                self._client = client
            return self._client


class _Answer(NamedTuple):
    id: UUID | None
    leaders: frozenset[int]


async def _ask(client: AIOKafkaClient, node: int, topic: str) -> _Answer:
    try:
        answer: Any = await client.send(node, _MetadataRequest(topic))
    except (IncompatibleBrokerVersion, NotImplementedError) as error:  # the broker's version is too low for it
        raise NoTopicIds from error
    [(code, _, topic_id, _, partitions, *_)] = answer.topics
    if for_code(code) is UnknownTopicOrPartitionError:
        return _Answer(None, frozenset())
    if code:
        raise for_code(code)
    if topic_id == _NONE:
        raise NoTopicIds
    return _Answer(topic_id, frozenset(leader for _, _, leader, *_ in partitions if leader >= 0))
