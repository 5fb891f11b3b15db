"""A message: the news of one member for one channel, and the document that carries it. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from abacus.core.ids import fingerprint
from abacus.engage.notify.decide.news import News, TaggedNews, merged
from abacus.engage.notify.decide.notice import Notice


class ChannelName(StrEnum):
    """The names of all channels. The list is closed: preferences and settings name them, and metrics count by them."""

    LOG = "log"
    SNS = "sns"
    WEBHOOK = "webhook"


class Message(NamedTuple):
    """The news that one member is told at one time. The id is the same on every channel and at every try."""

    member_id: str
    message_id: str
    news: Sequence[News]


class Words(NamedTuple):
    """The news of a message as a person reads it, in one locale."""

    title: str
    text: str


class OutgoingMessage(NamedTuple):
    """A message in words, on its way."""

    member_id: str
    message_id: str
    locale: str
    words: Words
    news: Sequence[News]
    created_at: datetime


class MemberNotification(BaseModel):
    """The document that a webhook and Amazon SNS carry. `id` is the same each time that a message is sent; a receiver
    skips an id that it has seen. `title` and `text` are for the member, `about` is the same in figures. Fields may be
    added.
    """

    model_config = ConfigDict(title="member.notification")

    type: Literal["member.notification"] = "member.notification"
    id: str
    member_id: str
    locale: str
    title: str
    text: str
    created_at: datetime
    about: list[TaggedNews]


def message_of(notices: Iterable[Notice]) -> Message:
    """One message with all the news of one member."""
    ordered = sorted(notices, key=lambda notice: (notice.happened_at, notice.seq, notice.event_id))
    member_id = ordered[0].member_id
    message_id = f"ntf_{fingerprint((member_id, *(notice.event_id for notice in ordered)))}"
    return Message(member_id, message_id, merged(notice.news for notice in ordered))


def document(outgoing: OutgoingMessage) -> bytes:
    """The message as JSON."""
    return (
        MemberNotification(
            id=outgoing.message_id,
            member_id=outgoing.member_id,
            locale=outgoing.locale,
            title=outgoing.words.title,
            text=outgoing.words.text,
            created_at=outgoing.created_at,
            about=list(outgoing.news),
        )
        .model_dump_json()
        .encode()
    )


def preview(channel: ChannelName, outgoing: OutgoingMessage) -> str:
    """The message as the channel would carry it."""
    if channel is ChannelName.LOG:
        return f"{outgoing.words.title}\n{outgoing.words.text}"
    return document(outgoing).decode()
