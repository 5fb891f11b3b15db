"""What was used last is kept, and the rest is forgotten: so that what is read once and again needs a bounded memory."""

from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """The values that were used last. Together they weigh at most `most`, but for a newest one that weighs more."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Value | None:
        """The value, which counts as used now; None where it was forgotten or never put."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        self._kept.move_to_end(key)
        return kept[0]

    def put(self, key: Key, value: Value, weight: int = 1) -> None:
        _, before = self._kept.pop(key, (None, 0))
        self._kept[key] = value, weight
        self._weight += weight - before
        while self._weight > self._most and len(self._kept) > 1:
            _, (_, forgotten) = self._kept.popitem(last=False)
            self._weight -= forgotten

    def clear(self) -> None:
        self._kept.clear()
        self._weight = 0
