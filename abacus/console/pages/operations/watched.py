"""What the pages of operations look at."""

from collections.abc import Sequence
from typing import NamedTuple

from abacus.oversight.status.sources import Group
from abacus.platform.sqs.queue import Client


class Watched(NamedTuple):
    """What operations look at: the relay's topic, the prefix of the queues, and the workers that have to run; the
    consumer groups, where a broker is set, and the queues, where an address is.
    """

    points_topic: str
    queue_prefix: str
    pipeline: Sequence[str]
    groups: Sequence[Group] = ()
    kafka: str | None = None
    sqs: Client | None = None
