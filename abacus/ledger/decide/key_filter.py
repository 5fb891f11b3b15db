"""Whether a key may be among very many: a blocked Bloom filter. What it denies is not there; of other keys it lets some
three in a thousand through.

The bits of a key lie in one block of 64 bytes, so a look costs one read of memory.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

BITS_OF_A_KEY: Final = 12
PART_BYTES: Final = 8192  # a row of the database
_BLOCK_WORDS: Final = 8
_BLOCK_BITS: Final = 512
_PROBES: Final = 7
_PROBE_BITS: Final = 9  # of 512
_PART_BLOCKS: Final = PART_BYTES // (8 * _BLOCK_WORDS)

Hashes: TypeAlias = npt.NDArray[np.uint64]  # two of each key

_SHIFTS: Final = np.arange(0, _PROBES * _PROBE_BITS, _PROBE_BITS, dtype=np.uint64)


def hashes_of(keys: Iterable[str]) -> Hashes:
    """The same in every process, and for good: filters are stored."""
    digests = b"".join([sha256(key.encode()).digest()[:16] for key in keys])
    return np.frombuffer(digests, dtype="<u8").reshape(-1, 2)


class KeyFilter:
    """The filter of a generation's keys."""

    def __init__(self, words: npt.NDArray[np.uint64]) -> None:
        self._words = words.reshape(-1, _BLOCK_WORDS)

    @classmethod
    def for_keys(cls, count: int) -> "KeyFilter":
        """An empty one, with room for so many."""
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

    def add(self, hashes: Hashes) -> None:
        blocks, words, bits = self._places(hashes)
        np.bitwise_or.at(self._words, (blocks, words), bits)

    def may_have(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        """Of each key."""
        blocks, words, bits = self._places(hashes)
        found: npt.NDArray[np.bool_] = ((self._words[blocks, words] & bits) != 0).all(axis=1)
        return found

    def _places(self, hashes: Hashes) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """The block of each key, and of each of its bits the word and the bit in that."""
        blocks = (hashes[:, 0] % np.uint64(len(self._words)))[:, np.newaxis]
        probes = (hashes[:, 1, np.newaxis] >> _SHIFTS) & np.uint64(_BLOCK_BITS - 1)
        return blocks, probes >> np.uint64(6), np.uint64(1) << (probes & np.uint64(63))
