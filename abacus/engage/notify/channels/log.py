"""The log as a channel: for a laptop, and for looking at members' messages."""

import structlog

from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage
from abacus.platform.delivery.types import Answer, Said

log = structlog.get_logger(__name__)


class LogChannel:
    """Logs one line for each message, with its text. No other channel logs the text of a message."""

    name = ChannelName.LOG

    async def send(self, outgoing: OutgoingMessage) -> Answer:
        log.info(
            "notification",
            member=outgoing.member_id,
            id=outgoing.message_id,
            locale=outgoing.locale,
            title=outgoing.words.title,
            text=outgoing.words.text,
        )
        return Answer(Said.ACCEPTED)
