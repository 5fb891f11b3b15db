"""The port that each channel implements."""

from typing import Protocol

from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage
from abacus.platform.delivery.types import Answer


class Channel(Protocol):
    """A way to a member."""

    @property
    def name(self) -> ChannelName: ...

    async def send(self, outgoing: OutgoingMessage) -> Answer:
        """Send the message and return the result within some seconds. It never raises."""
        ...
