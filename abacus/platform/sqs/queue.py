"""SQS: calls of ten, and of no more bytes than every implementation takes."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import cache
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from abacus.core.errors import Refused, Unavailable
from abacus.platform.metrics import QUEUE_AGE, QUEUE_MESSAGES
from abacus.platform.sqs.in_hand import InHand
from abacus.platform.sqs.port import CALL_ITEMS, Depth, Received, Unsent

CALL_BYTES: Final = 250 * 1024
DEPENDENCY: Final = "SQS"

_PING_WITHIN_S: Final = 2.0
LONG_POLL_S: Final = 30.0  # longer than any wait for messages

_PARALLEL_CALLS: Final = 4
_TRIES: Final = 3
_MISSING: Final = ("NonExistentQueue", "QueueDoesNotExist")  # AWS says the first, ElasticMQ the second
_ALREADY_GONE: Final = ("ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight")

# In the order of `Depth`.
_DEPTH: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)

Client = Any  # aiobotocore builds its clients at run time; there is no class to name


@cache
def _session(*, plain: bool) -> Any:
    """One session for all clients of the process, since it caches AWS' service descriptions and credentials.

    An endpoint by plain HTTP is not AWS, so the machine's role is not looked up, which off AWS ends in a timeout.
    """
    import aioboto3  # noqa: PLC0415  # as below
    from aiobotocore.session import get_session  # noqa: PLC0415  # as below

    session = get_session()
    if plain:
        session.get_component("credential_provider").remove("iam-role")
    return aioboto3.Session(botocore_session=session)


@asynccontextmanager
async def sqs_client(endpoint_url: str | None, *, within_s: float = LONG_POLL_S) -> AsyncIterator[Client]:
    """A client with AWS' usual chain of credentials and region. It tries a call three times, for so long each time.

    An endpoint of one's own (LocalStack, ElasticMQ, the embedded one) asks for credentials and does not check them, so
    where the chain has none, placeholders stand in.
    """
    from aiobotocore.config import AioConfig  # noqa: PLC0415  # a second that commands without a queue are spared

    plain = endpoint_url is not None and endpoint_url.startswith("http://")
    session = _session(plain=plain)
    given: dict[str, Any] = {}
    if endpoint_url is not None:
        given = {"endpoint_url": endpoint_url, "region_name": session.region_name or "us-east-1"}
        if await session.get_credentials() is None:
            given |= {"aws_access_key_id": "abacus", "aws_secret_access_key": "abacus"}
    if plain:
        given["verify"] = False  # there is no certificate to hold against anything; reading the system's takes long
    config = AioConfig(
        connect_timeout=3,
        read_timeout=within_s,
        max_pool_connections=50,
        retries={"mode": "standard", "max_attempts": 2},
    )
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(session.client("sqs", config=config, **given))
        except (BotoCoreError, ValueError) as error:  # the second for a host's name that botocore does not take
            raise Refused(f"SQS cannot be used: {error} (AWS_DEFAULT_REGION, or ABACUS_SQS_ENDPOINT_URL)") from error
        yield client


@contextmanager
def reachable() -> Iterator[None]:
    """Turns every failure to reach SQS into `Unavailable`."""
    try:
        yield
    except (BotoCoreError, ClientError, NoCredentialsError, OSError, TimeoutError) as error:
        raise Unavailable(DEPENDENCY, " ".join(str(error).split())) from error


class SqsQueue:
    """`Queue` on SQS."""

    def __init__(self, client: Client, name: str, url: str, *, wait_s: int = 20) -> None:
        self.name = name
        self.url = url
        self._client = client
        self._wait_s = wait_s
        self._calls = asyncio.Semaphore(_PARALLEL_CALLS)
        self._in_hand = InHand()
        self._oldest_ms: float | None = None  # when the oldest message of the last receive was sent

    @classmethod
    async def find(cls, client: Client, name: str, *, wait_s: int = 20) -> "SqsQueue":
        """The queue of that name. Raises `Unavailable` while there is none."""
        try:
            with reachable():
                url = (await client.get_queue_url(QueueName=name))["QueueUrl"]
        except Unavailable as error:
            cause = error.__cause__
            if isinstance(cause, ClientError) and any(code in str(cause.response) for code in _MISSING):
                raise Unavailable(f"queue {name}", "it does not exist; run `abacus queues ensure`") from error
            raise
        return cls(client, name, url, wait_s=wait_s)

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:
        results = await asyncio.gather(*(self._send_call(call, delay_s) for call in calls_of(bodies)))
        remaining = [body for left, _ in results for body in left]
        if remaining:
            raise Unsent(self.name, next(why for _, why in results if why), remaining)

    async def _send_call(self, bodies: Sequence[str], delay_s: int) -> tuple[list[str], str]:
        """Sends, and returns the entries that were not taken after a few tries, and the reason. Taken entries are not
        sent again.
        """
        left, why = list(bodies), ""
        for attempt in range(_TRIES):
            entries = [
                {"Id": str(index), "MessageBody": body, "DelaySeconds": delay_s} for index, body in enumerate(left)
            ]
            try:
                async with self._calls:
                    with reachable():
                        answer = await self._client.send_message_batch(QueueUrl=self.url, Entries=entries)
            except Unavailable as error:
                return left, error.detail
            failed = answer.get("Failed", [])
            if not failed:
                return [], ""
            left = [left[int(entry["Id"])] for entry in failed]
            why = f"{failed[0].get('Code')}: {failed[0].get('Message', '')}"
            await asyncio.sleep(0.1 * 2**attempt)
        return left, why

    async def waiting(self) -> int:
        """About how many messages wait, not counting messages in hand. Raises `Unavailable`."""
        with reachable():
            answer = await self._client.get_queue_attributes(
                QueueUrl=self.url, AttributeNames=["ApproximateNumberOfMessages"]
            )
        count = int(answer["Attributes"]["ApproximateNumberOfMessages"])
        QUEUE_MESSAGES.labels(self.name).set(count)
        if self._oldest_ms is not None:  # of a queue that this process receives from
            self._note_age(some_wait=count > 0)
        return count

    async def ping(self, *, within_s: float = _PING_WITHIN_S) -> None:
        """Raises `Unavailable` where the queue does not answer in time."""
        try:
            async with asyncio.timeout(within_s):
                await self.waiting()
        except TimeoutError:
            raise Unavailable(self.name, "no answer in time") from None

    async def holds(self) -> int:
        """About how many messages it has in all. Raises `Unavailable`."""
        return sum(await self.depth())

    async def depth(self) -> Depth:
        """About how many messages it has, and where they are. Raises `Unavailable`."""
        with reachable():
            answer = await self._client.get_queue_attributes(QueueUrl=self.url, AttributeNames=list(_DEPTH))
        return Depth(*(int(answer["Attributes"][name]) for name in _DEPTH))

    async def receive(self) -> list[Received]:
        with reachable():
            answer = await self._client.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=CALL_ITEMS,
                WaitTimeSeconds=self._wait_s,
                AttributeNames=["ApproximateReceiveCount", "SentTimestamp"],
            )
        messages = answer.get("Messages", [])
        for each in messages:
            self._in_hand.taken(each["MessageId"], int(each["Attributes"]["SentTimestamp"]))
        self._oldest_ms = min((int(each["Attributes"]["SentTimestamp"]) for each in messages), default=_now_ms())
        self._note_age(some_wait=False)
        return [
            Received(
                message["MessageId"],
                message["ReceiptHandle"],
                message["Body"],
                int(message["Attributes"]["ApproximateReceiveCount"]),
            )
            for message in messages
        ]

    def _note_age(self, *, some_wait: bool) -> None:
        """The age of the oldest message in hand. Waiting messages are about as old as the last received."""
        now_ms = _now_ms()
        oldest_ms = [self._in_hand.oldest_ms, self._oldest_ms if some_wait else None]
        age_ms = max((now_ms - each for each in oldest_ms if each is not None), default=0.0)
        QUEUE_AGE.labels(self.name).set(max(0.0, age_ms) / 1000)

    async def delete(self, messages: Sequence[Received]) -> None:
        if not messages:
            return
        entries = [{"Id": str(index), "ReceiptHandle": message.receipt} for index, message in enumerate(messages)]
        for _ in range(_TRIES):
            with reachable():
                answer = await self._client.delete_message_batch(QueueUrl=self.url, Entries=entries)
            left = [entries[int(failed["Id"])] for failed in _still_there(answer)]
            if not left:
                self._in_hand.gone(message.id for message in messages)
                return
            entries = [entry | {"Id": str(index)} for index, entry in enumerate(left)]
        raise Unavailable(f"queue {self.name}", f"{len(entries)} messages could not be deleted")

    async def keep(self, messages: Sequence[Received], seconds: int) -> None:
        if not messages:
            return
        entries = [
            {"Id": str(index), "ReceiptHandle": message.receipt, "VisibilityTimeout": seconds}
            for index, message in enumerate(messages)
        ]
        with reachable():
            answer = await self._client.change_message_visibility_batch(QueueUrl=self.url, Entries=entries)
        (self._in_hand.kept if seconds else self._in_hand.gone)(message.id for message in messages)
        failed = _still_there(answer)
        if failed:
            raise Unavailable(
                f"queue {self.name}", f"{len(failed)} messages could not be kept: {failed[0].get('Code')}"
            )


def _now_ms() -> float:
    return time.time() * 1000


def calls_of(bodies: Sequence[str]) -> Iterator[list[str]]:
    """The bodies in groups that one call may carry."""
    call: list[str] = []
    size = 0
    for body in bodies:
        length = len(body.encode())
        if call and (len(call) == CALL_ITEMS or size + length > CALL_BYTES):
            yield call
            call, size = [], 0
        call.append(body)
        size += length
    if call:
        yield call


def _still_there(answer: Any) -> list[dict[str, Any]]:
    """The failed entries of a batch call, without messages that are no longer ours: nothing can be done about them."""
    return [entry for entry in answer.get("Failed", []) if not any(code in entry["Code"] for code in _ALREADY_GONE)]
