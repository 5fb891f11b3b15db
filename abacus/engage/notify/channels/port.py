"""The port behind which each channel stands."""

from typing import Protocol

from abacus.engage.notify.decide.message import ChannelName, Outgoing
from abacus.platform.delivery.types import Answer


class Channel(Protocol):
    """A way to a member."""

    @property
    def name(self) -> ChannelName: ...

    async def send(self, outgoing: Outgoing) -> Answer:
        """What came of it, within some seconds: this never fails."""
        ...
