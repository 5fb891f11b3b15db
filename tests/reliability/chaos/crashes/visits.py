"""At a crash point nothing happens, or the visit is written down, or the process dies as by `kill -9`."""

import os
import signal
from pathlib import Path


class _Watch:
    """Passes points; asleep until it is woken, so that a worker's start does not count."""

    def __init__(self) -> None:
        self.awake = False
        self.fatal: str | None = None
        self.book: Path | None = None
        self.seen: set[str] = set()


_watch = _Watch()


def set_watch(book: Path, *, fatal: str | None) -> None:
    """Once awake, write the fatal point in the book; where no point is to be fatal, each point that is passed."""
    _watch.book, _watch.fatal = book, fatal


def wake() -> None:
    _watch.awake = _watch.book is not None


def passed(point: str) -> None:
    """Called on each side of every crossing."""
    if not _watch.awake or point in _watch.seen:
        return
    if _watch.fatal is None:
        _watch.seen.add(point)
        _write(point)
    elif point == _watch.fatal:
        _write(point)
        os.kill(os.getpid(), signal.SIGKILL)


def _write(point: str) -> None:
    if _watch.book is not None:
        with _watch.book.open("a", encoding="utf-8") as book:
            book.write(f"{point}\n")
