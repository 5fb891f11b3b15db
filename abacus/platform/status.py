"""How a capability reads its lines of the state of things."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from abacus.core.clock import Clock
from abacus.core.status import Follows, Overdue, Undelivered
from abacus.platform.postgres import Pool


class CapabilityStatus(NamedTuple):
    """The lines of one capability in `abacus status`. Its readers raise `Unavailable`."""

    follows: Sequence[Follows] = ()
    undelivered: Callable[[Pool, Clock], Awaitable[Undelivered]] | None = None
    overdue: Callable[[Pool, datetime], Awaitable[Sequence[Overdue]]] | None = None
