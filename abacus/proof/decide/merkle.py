"""A Merkle tree as RFC 6962 defines it: one hash over many leaves in order, and a short path that proves one of them.

Leaves and nodes are hashed under different prefixes, so that no node can be passed off as a leaf. The tree is built as
the leaves pass by: only the roots of its complete subtrees are kept, one for each binary digit of their number. Pure.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

_LEAF: Final = b"\x00"
_NODE: Final = b"\x01"


def leaf_hash(leaf: bytes) -> bytes:
    return sha256(_LEAF + leaf).digest()


class Tree:
    """Takes the hashes of leaves. One leaf may be watched: then `path` proves it, after `root` was called."""

    def __init__(self) -> None:
        self.size = 0
        self.watched: int | None = None
        self.path: list[bytes] = []
        self._roots: list[bytes] = []  # of a subtree for each one among the binary digits of `size`, the largest first
        self._place: int | None = None  # of the subtree with the watched leaf

    def add(self, leaf: bytes, *, watch: bool = False) -> None:
        roots, ones, right = self._roots, self.size, leaf
        if watch:
            self.watched, self._place = self.size, len(roots)
        while ones & 1:  # as carrying in an addition
            right = self._joined(roots.pop(), right)
            ones >>= 1
        roots.append(right)
        self.size += 1

    def root(self) -> bytes:
        """Over all leaves. Nothing can be added after that."""
        if not self._roots:
            return sha256().digest()
        while len(self._roots) > 1:
            right = self._roots.pop()
            self._roots.append(self._joined(self._roots.pop(), right))
        return self._roots[0]

    def _joined(self, left: bytes, right: bytes) -> bytes:
        """Two subtrees become one: the one beside the watched leaf belongs to its path."""
        if self._place is not None and self._place >= len(self._roots):
            is_left = self._place == len(self._roots)
            self.path.append(right if is_left else left)
            self._place = len(self._roots)
        return sha256(_NODE + left + right).digest()


def root_by_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root of a tree of `size` leaves that has this hash of a leaf at `index`; None if the path does not fit
    such a tree. After RFC 9162, 2.1.3.2.
    """
    if not 0 <= index < size:
        return None
    place, last, reached = index, size - 1, leaf
    for beside in path:
        if last == 0:
            return None
        if place % 2 or place == last:
            reached = _node(beside, reached)
            while place % 2 == 0 and place:
                place, last = place // 2, last // 2
        else:
            reached = _node(reached, beside)
        place, last = place // 2, last // 2
    return reached if last == 0 else None


def _node(left: bytes, right: bytes) -> bytes:
    return sha256(_NODE + left + right).digest()
