"""The shape of a region as bytes, and their digest: equal shapes have one digest."""

import hashlib
import struct
from collections.abc import Sequence
from typing import Final

from abacus.signals.places.decide.region import Part, Ring

_COUNT: Final = struct.Struct("<I")
_POINT: Final = struct.Struct("<dd")


def shape_bytes(parts: Sequence[Part]) -> bytes:
    written = bytearray(_COUNT.pack(len(parts)))
    for part in parts:
        written += _COUNT.pack(len(part))
        for ring in part:
            written += _COUNT.pack(len(ring))
            for point in ring:
                written += _POINT.pack(*point)
    return bytes(written)


def digest_of(shape: bytes) -> bytes:
    return hashlib.blake2b(shape, digest_size=16).digest()


def read_shape(written: bytes) -> tuple[Part, ...]:
    return _Bytes(written).parts()


class _Bytes:
    def __init__(self, written: bytes) -> None:
        self._written = written
        self._at = 0

    def parts(self) -> tuple[Part, ...]:
        return tuple(tuple(self._ring() for _ in range(self._count())) for _ in range(self._count()))

    def _count(self) -> int:
        (count,) = _COUNT.unpack_from(self._written, self._at)
        self._at += _COUNT.size
        return int(count)

    def _ring(self) -> Ring:
        count = self._count()
        begin, self._at = self._at, self._at + count * _POINT.size
        return tuple(_POINT.iter_unpack(self._written[begin : self._at]))
