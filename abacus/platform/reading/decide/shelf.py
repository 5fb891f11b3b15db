"""A shelf of answers, bounded in bytes. Pure.

What nobody asked for goes first (SIEVE): answers stand in the order in which they came, and a hand goes from the oldest
to the newest. It takes out the next answer that was not asked for since it last came by. A hit only marks the answer.
"""

from collections.abc import Collection, Hashable, Iterable
from typing import Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

OVERHEAD: Final = 400  # bytes of an answer beside its key and its value
OF_A_TAG: Final = 300  # the more, the fewer answers have it


class Kept(Generic[Key, Value]):
    """An answer with the moment from which its age counts, and until when it is fresh, stale, and not gone. `version`:
    what was known of its sources when it was begun.
    """

    __slots__ = (
        "asked",
        "born",
        "bytes",
        "fresh_until",
        "gone_at",
        "key",
        "newer",
        "older",
        "stale_until",
        "tags",
        "tried_at",
        "value",
        "version",
    )

    def __init__(  # the figures of one answer
        self,
        key: Key,
        value: Value,
        *,
        born: float,
        fresh_until: float,
        stale_until: float,
        gone_at: float,
        size: int = OVERHEAD,
        version: tuple[str | int, ...] = (),
        tags: Collection[str] = (),
    ) -> None:
        self.key = key
        self.value = value
        self.born = born
        self.fresh_until = fresh_until
        self.stale_until = stale_until
        self.gone_at = gone_at
        self.bytes = size
        self.version = version
        self.tags = tags
        self.tried_at = born  # when it was last tried to refresh it
        self.asked = False  # since the hand came by
        self.newer: Kept[Key, Value] | None = None
        self.older: Kept[Key, Value] | None = None


class Shelf(Generic[Key, Value]):
    """Bounded in bytes. Answers are found by `by_key`; a caller that finds an answer sets its `asked`."""

    def __init__(self, most_bytes: int) -> None:
        self.by_key: dict[Key, Kept[Key, Value]] = {}
        self.bytes = 0
        self._most = most_bytes
        self._tagged: dict[str, set[Key]] = {}
        self._newest: Kept[Key, Value] | None = None
        self._oldest: Kept[Key, Value] | None = None
        self._hand: Kept[Key, Value] | None = None

    def __len__(self) -> int:
        return len(self.by_key)

    def put(self, kept: Kept[Key, Value], now: float) -> int:
        """Returns how many answers went to make room. An answer that is larger than the shelf is not kept."""
        before = self.by_key.get(kept.key)
        if before is not None:
            self._take_out(before)
        while self._oldest is not None and self._oldest.gone_at <= now:
            self._take_out(self._oldest)
        if kept.bytes > self._most:
            return 0
        went = 0
        while self.bytes + kept.bytes > self._most:
            self._take_out(self._next())
            went += 1
        if before is not None:
            kept.asked = before.asked
        self._put_in(kept)
        return went

    def remove(self, key: Key) -> bool:
        kept = self.by_key.get(key)
        if kept is None:
            return False
        self._take_out(kept)
        return True

    def drop(self, tags: Iterable[str]) -> int:
        """Returns how many answers had one of the tags."""
        keys = [key for tag in tags for key in self._tagged.get(tag, ())]
        return sum(map(self.remove, keys))

    def clear(self) -> None:
        self.by_key.clear()
        self._tagged.clear()
        self.bytes = 0
        self._newest = self._oldest = self._hand = None

    def _put_in(self, kept: Kept[Key, Value]) -> None:
        self.by_key[kept.key] = kept
        self.bytes += kept.bytes
        for tag in kept.tags:
            self._tagged.setdefault(tag, set()).add(kept.key)
        kept.older, kept.newer = self._newest, None
        if self._newest is None:
            self._oldest = kept
        else:
            self._newest.newer = kept
        self._newest = kept

    def _take_out(self, kept: Kept[Key, Value]) -> None:
        del self.by_key[kept.key]
        self.bytes -= kept.bytes
        for tag in kept.tags:
            keys = self._tagged.get(tag)
            if keys is not None:
                keys.discard(kept.key)
                if not keys:
                    del self._tagged[tag]
        if self._hand is kept:
            self._hand = kept.newer
        if kept.older is None:
            self._oldest = kept.newer
        else:
            kept.older.newer = kept.newer
        if kept.newer is None:
            self._newest = kept.older
        else:
            kept.newer.older = kept.older
        kept.older = kept.newer = None

    def _next(self) -> Kept[Key, Value]:
        """The answer that goes next. There is one."""
        kept = self._hand or self._oldest
        while kept is not None and kept.asked:
            kept.asked = False
            kept = kept.newer or self._oldest
        if kept is None:
            raise LookupError("the shelf is empty")
        self._hand = kept
        return kept
