"""A downstream: a webhook, a service that is asked, or one of Abacus' own ways out. Pure values."""

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from abacus.platform.pace.decide.pace import Pace
from abacus.signals.events.types import VariableType

WEBHOOK_PREFIX: Final = "webhook:"
SERVICE_PREFIX: Final = "external:"
_HOST_PREFIX: Final = "host:"


class DownstreamKind(StrEnum):
    """The kinds of downstreams. The list is closed."""

    WEBHOOK = "webhook"
    EXTERNAL = "external"
    OWN = "own"  # a way out that is there from the start, and has nothing but a pace


class Otherwise(StrEnum):
    """What a condition is worth while the service gives no answer."""

    FALSE = "false"
    WAIT = "wait"  # the event is decided later


@dataclass(frozen=True, slots=True)
class Service:
    """What is asked for each event: the type of the answer, how many events go into one call, how long a call may take,
    and what follows when there is no answer.
    """

    answers: VariableType
    within: timedelta
    at_once: int
    otherwise: Otherwise


@dataclass(frozen=True, slots=True)
class Downstream:
    """A version of a downstream. A downstream of our own has no `url`, and only a downstream that is asked has a
    `service`. `pace_text` and `zone` are as they were written.
    """

    name: str
    kind: DownstreamKind
    url: str | None = None
    service: Service | None = None
    pace_text: str | None = None
    zone: str = "UTC"
    pace: Pace | None = None
    version: int = 0
    retired: bool = False

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def paced_as(self) -> str:
        """Whose turns it takes: webhooks of one host share theirs."""
        if self.kind is DownstreamKind.WEBHOOK:
            return _HOST_PREFIX + (urlsplit(self.url or "").hostname or self.name)
        return SERVICE_PREFIX + self.name if self.kind is DownstreamKind.EXTERNAL else self.name

    def published(self, version: int) -> "Downstream":
        """The same under its number."""
        return replace(self, version=version)
