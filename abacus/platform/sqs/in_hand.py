"""The messages of a queue that this process holds: neither the queue's count of waiting messages nor its next receive
says how old they are.
"""

import time
from collections.abc import Callable, Iterable
from typing import Final

_FORGOTTEN_AFTER_S: Final = 120.0  # far longer than a message stays ours without a word from us


class InHand:
    """When each message in hand was sent. A message that nobody finished, kept or gave back is forgotten: its
    visibility timeout has passed, and somebody else may have it.
    """

    def __init__(
        self, *, forgotten_after_s: float = _FORGOTTEN_AFTER_S, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._forgotten_after_s = forgotten_after_s
        self._monotonic = monotonic
        self._sent_ms: dict[str, float] = {}
        self._ours_until: dict[str, float] = {}

    def taken(self, id_: str, sent_ms: float) -> None:
        self._sent_ms[id_] = sent_ms
        self._ours_until[id_] = self._monotonic() + self._forgotten_after_s

    def kept(self, ids: Iterable[str]) -> None:
        until = self._monotonic() + self._forgotten_after_s
        self._ours_until.update({id_: until for id_ in ids if id_ in self._sent_ms})

    def gone(self, ids: Iterable[str]) -> None:
        for id_ in ids:
            self._sent_ms.pop(id_, None)
            self._ours_until.pop(id_, None)

    @property
    def oldest_ms(self) -> float | None:
        """When the oldest of them was sent; None with empty hands."""
        now = self._monotonic()
        self.gone([id_ for id_, until in self._ours_until.items() if until < now])
        return min(self._sent_ms.values(), default=None)
