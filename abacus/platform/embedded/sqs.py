"""The SQS API on loopback: moto's server in a child process."""

from pathlib import Path

from abacus.platform.embedded.child import Child
from abacus.platform.embedded.extra import demand


class EmbeddedSqs:
    """An SQS endpoint whose queues live in memory and end with it.

    Any credentials will do, but they must be given, as for AWS. A queue belongs to the region of the client that made
    it: clients that are to meet need the same region.
    """

    def __init__(self, log: Path) -> None:
        self._child = Child("SQS", "abacus.platform.embedded.sqs_server", (), log)
        self.endpoint_url: str | None = None

    async def start(self) -> str:
        """Start serving and come back with the endpoint's URL."""
        demand("SQS", "moto", "flask", "flask_cors")
        self.endpoint_url = await self._child.start()
        return self.endpoint_url

    async def stop(self) -> None:
        """Stop serving; the messages are gone."""
        self.endpoint_url = None
        await self._child.stop()
