"""Whether a database server keeps what it was told, and whether it is set up for a ledger that grows. Pure.

docs/operate/postgres.md has the settings, and what each gave.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from abacus.oversight.doctor.types import Finding, Grade

_MEGABYTE: Final = 1024 * 1024
_GIGABYTE: Final = 1024 * _MEGABYTE
_LEAST_LOG: Final = 4 * _GIGABYTE
_LEAST_PAUSE_S: Final = 900
_FEW_CHECKPOINTS: Final = 20  # tell nothing
_BEST_COMPRESSIONS: Final = ("lz4", "zstd", "pglz", "on")
_NONE: Final = "off"

# What is lost where the setting is off.
_KEEPS: Final[Mapping[str, str]] = {
    "fsync": "a crash of the machine may ruin the whole ledger",
    "full_page_writes": "a crash of the machine may leave torn pages",
    "synchronous_commit": "a crash may lose awards that were taken off their queue",
    "autovacuum": "tables swell, and at last the server takes no more writes",
}


class Server(NamedTuple):
    """A database server as it tells of itself. Sizes are bytes, times seconds. `random_indexes` is the size of those
    that each posting looks into at random places. Checkpoints come by the clock, or are asked for: mostly because the
    log between two has reached its limit.
    """

    name: str
    settings: Mapping[str, str]
    compressions: Collection[str]
    random_indexes: int
    timed_checkpoints: int
    asked_checkpoints: int


def of_server(server: Server) -> Iterator[Finding]:
    """What was looked at, the good with the bad."""
    for name, lost in _KEEPS.items():
        yield _kept(server, name, lost)
    yield _compressed(server)
    yield _held_in_memory(server)
    yield _seldom_checkpointed(server)


def _kept(server: Server, name: str, lost: str) -> Finding:
    value = server.settings[name]
    if value == _NONE:
        return Finding(server.name, name, value, Grade.WRONG, f"{lost}; turn it on")
    return Finding(server.name, name, value, Grade.GOOD)


def _compressed(server: Server) -> Finding:
    value = server.settings["wal_compression"]
    if value != _NONE:
        return Finding(server.name, "wal_compression", value, Grade.GOOD)
    best = next(each for each in _BEST_COMPRESSIONS if each in server.compressions)
    remedy = f"set it to {best}: whole pages, which follow each checkpoint, are most of the log of a ledger that grows"
    return Finding(server.name, "wal_compression", value, Grade.ADVICE, remedy)


def _held_in_memory(server: Server) -> Finding:
    buffers = int(server.settings["shared_buffers"])
    found = f"{_size(buffers)}, for random indexes of {_size(server.random_indexes)}"
    if buffers >= server.random_indexes:
        return Finding(server.name, "shared_buffers", found, Grade.GOOD)
    remedy = "each award reads pages of these from the disk: give it more, up to a third of the machine's memory"
    return Finding(server.name, "shared_buffers", found, Grade.ADVICE, remedy)


def _seldom_checkpointed(server: Server) -> Finding:
    log, pause_s = int(server.settings["max_wal_size"]), int(server.settings["checkpoint_timeout"])
    timed, asked = server.timed_checkpoints, server.asked_checkpoints
    found = f"every {pause_s} s or {_size(log)} of log; {timed:,} by the clock, {asked:,} asked for"
    is_pressed = timed + asked >= _FEW_CHECKPOINTS and asked > timed
    if not is_pressed and log >= _LEAST_LOG and pause_s >= _LEAST_PAUSE_S:
        return Finding(server.name, "checkpoints", found, Grade.GOOD)
    remedy = "make them rare (max_wal_size = 16GB, checkpoint_timeout = 30min): after one, each page is logged whole"
    return Finding(server.name, "checkpoints", found, Grade.ADVICE, remedy)


def _size(size: int) -> str:
    return f"{size / _GIGABYTE:.1f} GB" if size >= _GIGABYTE else f"{size / _MEGABYTE:.0f} MB"
