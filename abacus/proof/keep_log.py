"""Chaining the log soon after it is written; a seal chains what is left when it is made."""

from typing import Final

from abacus.people.store.chain import BATCH, chain_next
from abacus.platform.following.leader import Leader
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool

_IDLE_S: Final = 2.0  # who tampers with an entry before it has its place is not found by the chain
_LEASE: Final = "abacus log"


def log_keeper(pool: Pool, health: WorkerHealth) -> Leader:
    """Gives entries their places, a batch at a time."""
    return Leader(pool, _LEASE, chain_next, health, idle_s=_IDLE_S, enough=BATCH)
