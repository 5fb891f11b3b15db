"""Lines of the log about what is away. Many tasks need one dependency, and each of them finds out, again and again."""

import time
from collections.abc import Callable, MutableMapping
from typing import Any, Final

import structlog

from abacus.core.errors import Unavailable

EVERY_S: Final = 30.0
_AWAY: Final = "away"
_BACK: Final = "back"

Line = MutableMapping[str, Any]


class OutageLines:
    """A processor of structlog. A line says that something is away by `away=`, the `Unavailable`, and that it is back
    by `back=`, the dependency's name. Of either, one line a dependency is let through in `every_s` seconds; it says how
    many were left out before it.
    """

    def __init__(self, every_s: float = EVERY_S, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._every_s = every_s
        self._monotonic = monotonic
        self._told_at: dict[tuple[str, str], float] = {}
        self._left_out: dict[str, int] = {}

    def __call__(self, _logger: object, _method: str, line: Line) -> Line:
        away, back = line.pop(_AWAY, None), line.pop(_BACK, None)
        if isinstance(away, Unavailable):
            line.update(dependency=away.dependency, detail=away.detail)
            self._let_through(_AWAY, away.dependency, line)
        elif back is not None:
            line.update(dependency=back)
            self._let_through(_BACK, back, line)
        return line

    def _let_through(self, kind: str, dependency: str, line: Line) -> None:
        """Raises `DropEvent` for a line that is left out."""
        now = self._monotonic()
        if now - self._told_at.get((kind, dependency), -self._every_s) < self._every_s:
            self._left_out[dependency] = self._left_out.get(dependency, 0) + 1
            raise structlog.DropEvent
        self._told_at[kind, dependency] = now
        if left_out := self._left_out.pop(dependency, 0):
            line["left_out"] = left_out
