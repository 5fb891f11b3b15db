"""The Merkle tree against its definition in RFC 6962, and paths that prove one leaf and no other."""

from collections.abc import Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.proof.decide.merkle import Tree, leaf_hash, root_by_path

# The inputs that implementations of Certificate Transparency are tested with, and the roots of the first n of them.
INPUTS = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


def tree_of(leaves: Sequence[bytes], watched: int | None = None) -> Tree:
    tree = Tree()
    for place, leaf in enumerate(leaves):
        tree.add(leaf, watch=place == watched)
    return tree


def as_defined(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, 2.1, word for word."""
    if len(leaves) <= 1:
        return leaves[0] if leaves else sha256().digest()
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\x01" + as_defined(leaves[:split]) + as_defined(leaves[split:])).digest()


def numbered(size: int) -> list[bytes]:
    return [leaf_hash(b"%d" % number) for number in range(size)]


@pytest.mark.parametrize(("size", "root"), ROOTS.items())
def test_roots_that_others_have_computed(size: int, root: str) -> None:
    leaves = [leaf_hash(bytes.fromhex(each)) for each in INPUTS[:size]]
    assert tree_of(leaves).root().hex() == root


@pytest.mark.parametrize("size", [*range(20), 63, 64, 65, 100, 1000])
def test_the_root_is_as_defined(size: int) -> None:
    assert tree_of(numbered(size)).root() == as_defined(numbered(size))


@given(st.integers(1, 300), st.data())
def test_a_path_proves_its_leaf_at_its_place_and_nothing_else(size: int, data: st.DataObject) -> None:
    leaves, place = numbered(size), data.draw(st.integers(0, size - 1))
    tree = tree_of(leaves, place)
    root, path = tree.root(), tree.path
    assert (tree.watched, tree.size) == (place, size)
    assert root_by_path(leaves[place], place, size, path) == root
    elsewhere = data.draw(st.integers(-1, size + 1).filter(lambda other: other != place))
    assert root_by_path(leaves[place], elsewhere, size, path) != root
    assert root_by_path(leaf_hash(b"another"), place, size, path) != root
    assert root_by_path(leaves[place], place, size, [*path, root]) is None
    if path:
        assert root_by_path(leaves[place], place, size, path[1:]) != root
        changed = data.draw(st.integers(0, len(path) - 1))
        others = [each if number != changed else leaf_hash(b"x") for number, each in enumerate(path)]
        assert root_by_path(leaves[place], place, size, others) != root


@given(st.integers(2, 100))
def test_a_node_is_no_leaf(size: int) -> None:
    """Two leaves hashed together are not the leaf of their bytes."""
    first, second = numbered(size)[:2]
    assert tree_of([first, second]).root() != leaf_hash(first + second)


def test_memory_is_the_trees_height() -> None:
    tree = tree_of(numbered(1000), 500)
    assert len(tree._roots) == 6  # noqa: SLF001  # what is in memory; 1000 is 0b1111101000
    assert len(tree.path) <= 10
