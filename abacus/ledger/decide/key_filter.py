"""Whether a key may be among very many: a blocked Bloom filter. What it denies is not there; of other keys it lets some
five in a thousand through.

A key has a block of eight words, and a bit in each of these: a look costs one read of memory.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

BITS_OF_A_KEY: Final = 12
PART_BYTES: Final = 8064  # of a row that fills a page of the database
_BLOCK_WORDS: Final = 8
_PLACE_BITS: Final = 6  # of 64 in a word
_PART_BLOCKS: Final = PART_BYTES // (8 * _BLOCK_WORDS)

Words: TypeAlias = npt.NDArray[np.uint64]

_SHIFTS: Final = np.arange(0, _BLOCK_WORDS * _PLACE_BITS, _PLACE_BITS, dtype=np.uint64)


class Looked(NamedTuple):
    """Keys as all filters look for them: what chooses their block, and their bits in its words."""

    chooses: Words
    bits: Words


def looked(keys: Iterable[str]) -> Looked:
    """The same in every process, and for good: filters are stored."""
    digests = b"".join([sha256(key.encode()).digest()[:16] for key in keys])
    hashes = np.frombuffer(digests, dtype="<u8").reshape(-1, 2)
    places = (hashes[:, 1, np.newaxis] >> _SHIFTS) & np.uint64(63)
    return Looked(hashes[:, 0], np.uint64(1) << places)


class KeyFilter:
    """The filter of a generation's keys."""

    def __init__(self, words: Words) -> None:
        self._words = words.reshape(-1, _BLOCK_WORDS)

    @classmethod
    def for_keys(cls, count: int) -> "KeyFilter":
        """A filter without keys, with room for this number."""
        parts = max(1, -(-count * BITS_OF_A_KEY // (PART_BYTES * 8)))
        return cls(np.zeros(parts * _PART_BLOCKS * _BLOCK_WORDS, dtype=np.uint64))

    @classmethod
    def of(cls, parts: Sequence[bytes]) -> "KeyFilter":
        """As it was stored."""
        return cls(np.frombuffer(b"".join(parts), dtype="<u8"))

    def parts(self) -> Sequence[bytes]:
        """As it is stored."""
        stored = self._words.astype("<u8").tobytes()
        return [stored[first : first + PART_BYTES] for first in range(0, len(stored), PART_BYTES)]

    def add(self, keys: Looked) -> None:
        np.bitwise_or.at(self._words, self._blocks(keys), keys.bits)

    def may_have(self, keys: Looked) -> npt.NDArray[np.bool_]:
        """Of each key."""
        missing = keys.bits & ~self._words[self._blocks(keys)]
        found: npt.NDArray[np.bool_] = (missing == 0).all(axis=1)
        return found

    def _blocks(self, keys: Looked) -> Words:
        return keys.chooses % np.uint64(len(self._words))
