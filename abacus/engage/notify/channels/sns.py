"""Amazon SNS as a channel: one topic, to which the systems that reach members' phones subscribe."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from abacus.core.errors import Refused
from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage, document
from abacus.platform.delivery.decide.reply import brief
from abacus.platform.delivery.types import Answer, Said

WITHIN_S: Final = 15.0
_OF_THE_MESSAGE: Final = ("InvalidParameter", "ParameterValueInvalid", "InvalidParameterValue")

Client = Any  # aiobotocore builds its clients at run time; there is no class to name


@asynccontextmanager
async def sns_client(endpoint_url: str | None, topic_arn: str) -> AsyncIterator[Client]:
    """A client in the topic's region, with AWS' usual chain of credentials. An endpoint of one's own checks no
    credentials, so placeholders are used when the chain has none. Raises `Refused`.
    """
    import aioboto3  # noqa: PLC0415  # a second of start-up that a process without this channel does not need
    from aiobotocore.config import AioConfig  # noqa: PLC0415  # as above

    session = aioboto3.Session()
    given: dict[str, str] = {"region_name": topic_arn.split(":")[3]}
    if endpoint_url is not None:
        given["endpoint_url"] = endpoint_url
        if await session.get_credentials() is None:
            given |= {"aws_access_key_id": "abacus", "aws_secret_access_key": "abacus"}
    config = AioConfig(
        connect_timeout=3, read_timeout=10, max_pool_connections=100, retries={"mode": "standard", "max_attempts": 1}
    )
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(session.client("sns", config=config, **given))
        except BotoCoreError as error:
            raise Refused(f"SNS cannot be used: {error} (ABACUS_SNS_ENDPOINT_URL)") from error
        yield client


class SnsChannel:
    """Publishes the message as JSON, with attributes by which subscriptions can filter."""

    name = ChannelName.SNS

    def __init__(self, client: Client, topic_arn: str) -> None:
        self._client = client
        self._topic_arn = topic_arn

    async def send(self, outgoing: OutgoingMessage) -> Answer:
        try:
            async with asyncio.timeout(WITHIN_S):
                await self._client.publish(
                    TopicArn=self._topic_arn,
                    Message=document(outgoing).decode(),
                    MessageAttributes={
                        name: {"DataType": "String", "StringValue": value}
                        for name, value in _attributes(outgoing).items()
                    },
                )
        except ClientError as error:
            fault = error.response.get("Error", {})
            said = Said.REFUSED if fault.get("Code") in _OF_THE_MESSAGE else Said.FAILED
            return Answer(said, brief(f"{fault.get('Code')}: {fault.get('Message')}"))
        except TimeoutError:
            return Answer(Said.FAILED, f"no answer within {WITHIN_S:g} s")
        except (BotoCoreError, OSError) as error:
            return Answer(Said.FAILED, brief(str(error)) or type(error).__name__)
        return Answer(Said.ACCEPTED)


def _attributes(outgoing: OutgoingMessage) -> dict[str, str]:
    return {
        "id": outgoing.message_id,
        "member_id": outgoing.member_id,
        "locale": outgoing.locale,
        "event": outgoing.news[0].kind,
    }
