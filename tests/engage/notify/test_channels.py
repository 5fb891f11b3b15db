"""The channels: one contract for each of them, and Amazon SNS as moto serves it."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from threading import Thread

import orjson
import pytest
import structlog
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import create_backend_app
from moto.sns.models import sns_backends
from werkzeug.serving import make_server

from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.engage.notify.channels.log import LogChannel
from abacus.engage.notify.channels.port import Channel
from abacus.engage.notify.channels.sns import Client, SnsChannel, sns_client
from abacus.engage.notify.channels.webhook import WebhookChannel
from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage, Words, document
from abacus.engage.notify.decide.news import SAMPLES, NewsKind
from abacus.engage.notify.wiring import plan_of
from abacus.platform.delivery.post import Poster
from abacus.platform.delivery.types import Answer, Said
from abacus.platform.settings import Settings
from tests.engage.notify.telling import Notepad, earned, enter_and_gather, settled
from tests.support.house import House, until
from tests.support.receiver import receiving

ARN = f"arn:aws:sns:ap-southeast-1:{DEFAULT_ACCOUNT_ID}:members"
SECRET = "whsec_" + "QUJD" * 10 + "QQ=="
OUTGOING = OutgoingMessage(
    "bob",
    "ntf_1",
    "vi",
    Words("Bạn vừa nhận được 1.250 điểm", "Hiện bạn có 4.500 điểm"),
    list(SAMPLES[NewsKind.EARNED][:1]),
    datetime(2026, 7, 1, tzinfo=UTC),
)


@pytest.fixture
def sns_url() -> Iterator[str]:
    """moto's SNS on loopback, in a thread."""
    server = make_server("127.0.0.1", 0, create_backend_app("sns"), threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
    sns_backends[DEFAULT_ACCOUNT_ID]["ap-southeast-1"].reset()


@asynccontextmanager
async def topic(url: str) -> AsyncIterator[Client]:
    async with sns_client(url, ARN) as client:
        assert (await client.create_topic(Name="members"))["TopicArn"] == ARN
        yield client


def published() -> list[str]:
    """The bodies that the topic was given."""
    return [sent[1] for sent in sns_backends[DEFAULT_ACCOUNT_ID]["ap-southeast-1"].topics[ARN].sent_notifications]


@asynccontextmanager
async def opened(name: str, sns_url: str) -> AsyncIterator[Channel]:
    if name == "notepad":
        yield Notepad()
    elif name == "log":
        yield LogChannel()
    elif name == "sns":
        async with topic(sns_url) as client:
            yield SnsChannel(client, ARN)
    elif name == "webhook":
        poster = Poster(to_private=True, at_once=4)
        async with receiving() as receiver:
            yield WebhookChannel(poster, receiver.url, SECRET, SystemClock())
        await poster.close()
    else:
        pytest.fail(f"the channel {name} is not tried here")


@pytest.mark.parametrize("name", ChannelName)
async def test_the_notifier_knows_the_channel_and_names_the_settings_that_it_lacks(name: ChannelName) -> None:
    settings = Settings.model_validate({"notify_channels": name.value})
    try:
        assert plan_of(settings).channels == (name,)
    except Refused as refused:
        assert re.fullmatch(  # noqa: PT017  # a channel that needs no setting raises nothing
            rf"ABACUS_[A-Z_]+ is not set, and ABACUS_NOTIFY_CHANNELS names {name}", str(refused)
        )


@pytest.mark.parametrize("name", ["notepad", *ChannelName])
async def test_every_channel_takes_messages_also_twice_and_at_once(name: str, sns_url: str) -> None:
    async with opened(name, sns_url) as channel:
        assert channel.name in ChannelName
        answers = await asyncio.gather(*(channel.send(OUTGOING) for _ in range(4)))
    assert answers == [Answer(Said.ACCEPTED)] * 4


async def test_sns_is_given_the_document_and_what_to_filter_by(sns_url: str) -> None:
    async with topic(sns_url) as client:
        assert await SnsChannel(client, ARN).send(OUTGOING) == Answer(Said.ACCEPTED)
        assert [orjson.loads(body) for body in published()] == [orjson.loads(document(OUTGOING))]
        sent = sns_backends[DEFAULT_ACCOUNT_ID]["ap-southeast-1"].topics[ARN].sent_notifications[0]
        assert sent[3] is not None
        attributes = {name: value["Value"] for name, value in sent[3].items()}
        assert attributes == {"id": "ntf_1", "member_id": "bob", "locale": "vi", "event": "earned"}


@pytest.mark.long
async def test_sns_says_why_not(sns_url: str) -> None:
    async with topic(sns_url) as client:
        missing = await SnsChannel(client, ARN + "-none").send(OUTGOING)
        assert (missing.said, missing.detail[:9]) == (Said.FAILED, "NotFound:")
        long = OUTGOING._replace(words=Words("Title", "x" * 300_000))
        refused = await SnsChannel(client, ARN).send(long)
        assert (refused.said, "InvalidParameter" in refused.detail) == (Said.REFUSED, True)
    async with sns_client("http://127.0.0.1:1", ARN) as client:
        nobody = await SnsChannel(client, ARN).send(OUTGOING)
        assert (nobody.said, "127.0.0.1:1" in nobody.detail) == (Said.FAILED, True)


@pytest.mark.parametrize(
    ("status", "said", "detail"),
    [
        ("200 OK", Said.ACCEPTED, ""),
        ("204 No Content", Said.ACCEPTED, ""),
        ("404 Not Found", Said.FAILED, "answered 404"),
        ("500 Oops", Said.FAILED, "answered 500"),
        ("302 Found", Said.FAILED, "answered 302: redirects are not followed"),
        ("410 Gone", Said.GONE, "answered 410"),
    ],
)
async def test_what_a_webhook_answers(status: str, said: Said, detail: str) -> None:
    poster = Poster(to_private=True, at_once=4)
    async with receiving() as receiver:
        receiver.answers(status)
        channel = WebhookChannel(poster, receiver.url, SECRET, SystemClock())
        assert await channel.send(OUTGOING) == Answer(said, detail)
        (request,) = receiver.requests
        assert (request.id, request.json["title"]) == ("ntf_1", OUTGOING.words.title)
        assert request.is_signed_with(SECRET)
    await poster.close()


async def test_the_log_alone_holds_what_members_are_told() -> None:
    with structlog.testing.capture_logs() as lines:
        assert await LogChannel().send(OUTGOING) == Answer(Said.ACCEPTED)
    (line,) = lines
    assert (line["member"], line["id"], line["title"]) == ("bob", "ntf_1", OUTGOING.words.title)


@pytest.mark.long
async def test_the_worker_publishes_to_sns_and_a_topic_that_comes_later_gets_everything(
    house: House, sns_url: str
) -> None:
    changes = {"notify_channels": "sns, log", "sns_topic_arn": ARN, "sns_endpoint_url": sns_url}
    settings = house.settings.model_copy(update=changes)
    both = (ChannelName.SNS, ChannelName.LOG)
    await enter_and_gather(house.pool, *(earned(f"m{n}", 1) for n in range(10)), channels=both)
    async with house.running("notifier", settings=settings):
        await settled(house.pool, "sent_at", 10)  # the log does not wait
        await until(lambda: _failed(house, 10))
        async with topic(sns_url):
            await settled(house.pool, "sent_at", 20)
    assert {orjson.loads(body)["member_id"] for body in published()} == {f"m{n}" for n in range(10)}


async def _failed(house: House, wanted: int) -> bool:
    rows = await house.pool.fetch("select last_error from notification where channel = 'sns'")
    return len([row for row in rows if (row["last_error"] or "").startswith("NotFound")]) == wanted
