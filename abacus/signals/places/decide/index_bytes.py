"""The index of a country's regions as bytes, which are read in moments.

A table of the arrays, each with its type and its length, stands before them; all numbers are little-endian. Another
layout, or another meaning of the arrays, is another format.
"""

import struct
import sys
from array import array
from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from typing import Any, Final

import orjson

from abacus.signals.places.decide.borders import Outlines
from abacus.signals.places.decide.country_index import CountryIndex, build
from abacus.signals.places.decide.edition import Drawn
from abacus.signals.places.decide.rank_sets import RankSets
from abacus.signals.places.decide.region import RegionName
from abacus.signals.places.decide.strips import Edges, Strips

FORMAT: Final = 2
_STRIPS: Final = len(Strips._fields)
_OUTLINES: Final = len(Outlines._fields)
_ARRAYS: Final = 3 + _STRIPS + len(Edges._fields) + _OUTLINES
_HEAD: Final = struct.Struct("<cQ")
_IS_FOREIGN: Final = sys.byteorder == "big"


def index_of(given: Drawn, tell: Callable[[float], None] = lambda _: None) -> bytes:
    """The index of an edition, as it is stored. Takes seconds for many regions; `tell` gets the share that is done."""
    return to_bytes(build(given.regions(), tell))


def to_bytes(index: CountryIndex) -> bytes:
    sets = index.sets.all
    arrays: list[array[Any]] = [
        array("B", orjson.dumps(list(map(tuple, index.names)))),
        array("i", accumulate(map(len, sets), initial=0)),
        array("i", [rank for ranks in sets for rank in ranks]),
        *index.strips,
        *index.edges,
        *index.outlines,
    ]
    heads = [_HEAD.pack(each.typecode.encode(), len(each)) for each in arrays]
    return b"".join((*heads, *map(_written, arrays)))


def from_bytes(written: bytes) -> CountryIndex:
    """Of bytes of this format."""
    names, first, ranks, *rest = _arrays(memoryview(written))
    return CountryIndex(
        [RegionName(*each) for each in orjson.loads(names.tobytes())],
        RankSets(tuple(ranks[begin:end]) for begin, end in pairwise(first)),
        Strips(*rest[:_STRIPS]),
        Edges(*rest[_STRIPS:-_OUTLINES]),
        Outlines(*rest[-_OUTLINES:]),
    )


def _arrays(written: memoryview) -> Iterator["array[Any]"]:
    heads = [_HEAD.unpack_from(written, at * _HEAD.size) for at in range(_ARRAYS)]
    at = _ARRAYS * _HEAD.size
    for typecode, length in heads:
        read: array[Any] = array(typecode.decode())
        end = at + length * read.itemsize
        read.frombytes(written[at:end])
        if _IS_FOREIGN:
            read.byteswap()
        at = end
        yield read


def _written(one: "array[Any]") -> bytes:
    if _IS_FOREIGN:
        one = array(one.typecode, one)
        one.byteswap()
    return one.tobytes()
