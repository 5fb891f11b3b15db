"""A seal: one hash over the heads of all accounts, as they stood in one snapshot. Seals are chained as transfers are.

A seal that was kept shows years later whether the ledger has been changed since: every transfer is in its
account's chain, every chain's head in the seal's tree, every seal in the chain of seals. Pure.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from abacus.people.types.deed import LogHead
from abacus.proof.decide.merkle import Tree, leaf_hash
from abacus.proof.decide.report import HouseFault, Of

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

_fault: Final = partial(HouseFault, Of.SEAL)


class Head(NamedTuple):
    """An account after its last transfer: the fields that a seal covers."""

    member_id: str
    program: str
    seq: int
    balance: int
    head_hash: bytes

    def leaf(self, format_: int) -> bytes:
        """The hash that stands for the account in the tree of a seal of that format."""
        return leaf_hash(orjson.dumps(FORMATS[format_](self)))


def _first_leaf(head: Head) -> Sequence[Any]:
    return (head.member_id, head.program, head.seq, head.balance, head.head_hash.hex())


# The fields that a leaf covers, by format. A seal names its format, so a field can be added without touching older
# seals; a format is never changed once seals have it.
FORMATS: Final[dict[int, Callable[[Head], Sequence[Any]]]] = {1: _first_leaf, 2: _first_leaf}
CURRENT: Final = 2  # the format of new seals: they also cover the log


class Sealed(NamedTuple):
    """The content of a seal. `root` is over the heads in the order of member and program, by their bytes."""

    accounts: int
    transfers: int
    root: bytes

    @property
    def leaf(self) -> bytes:
        """The hash that stands for a slice in the tree over all slices."""
        return leaf_hash(orjson.dumps([self.accounts, self.transfers, self.root.hex()]))


def is_whole(slices: Sequence[object]) -> bool:
    """Whether the ledger is not cut: its one slice is the whole ledger."""
    return len(slices) == 1


def over_slices(slices: Sequence[Sealed]) -> Sealed:
    """The content of a seal over these slices, in their order: a tree over each, and one over their roots. The tree of
    a whole ledger is the seal's.
    """
    if is_whole(slices):
        return slices[0]
    tree = Tree()
    for each in slices:
        tree.add(each.leaf)
    return Sealed(sum(each.accounts for each in slices), sum(each.transfers for each in slices), tree.root())


class Seal(NamedTuple):
    """The fields stand in the order of the table's columns. `snapshot` is Postgres' own text for the
    visible transactions, of each slice in their order, with spaces between; `previous` is the hash of the seal before.
    `log_entries` and `log_head` are the end of the chain of the log, which the first format does not have.
    """

    number: int
    sealed_at: datetime
    accounts: int
    transfers: int
    root: bytes
    snapshot: str
    previous: bytes
    hash: bytes
    format: int
    log_entries: int | None = None
    log_head: bytes | None = None

    @property
    def is_known(self) -> bool:
        """Whether this version can compute the seal's hashes."""
        return self.format in FORMATS

    @property
    def snapshots(self) -> Sequence[str]:
        """That of each slice; one, where the ledger is not cut."""
        return self.snapshot.split(" ")

    @property
    def sealed(self) -> Sealed:
        return Sealed(self.accounts, self.transfers, self.root)

    def compared_in(self, number: int, recorded: Sealed, now: Sealed) -> Iterator[HouseFault]:
        """The faults of a slice, or of a whole ledger, given what the seal has of it and what it has now."""
        of = "" if is_whole(self.snapshots) else f" of slice {number}"
        return self._compared(recorded, now, of, "the ledger comes")

    def compared_with(self, slices: Sequence[Sealed]) -> Iterator[HouseFault]:
        """The faults between what the seal has of the whole and of its slices."""
        if len(slices) != len(self.snapshots):
            yield _fault(self.number, f"it has {len(self.snapshots)} snapshots, and {len(slices)} slices")
        yield from self._compared(self.sealed, over_slices(slices), "", "its slices come")

    def _compared(self, recorded: Sealed, now: Sealed, of: str, whose: str) -> Iterator[HouseFault]:
        for name, before, computed in (
            ("number of accounts", recorded.accounts, now.accounts),
            ("number of transfers", recorded.transfers, now.transfers),
            ("root", recorded.root.hex(), now.root.hex()),
        ):
            if before != computed:
                yield _fault(self.number, f"its {name}{of} is {before}, {whose} to {computed}")


def next_seal(
    last: Seal | None, sealed: Sealed, snapshot: str, sealed_at: datetime, log: LogHead, *, format_: int = CURRENT
) -> Seal:
    number, previous = (last.number + 1, last.hash) if last else (1, b"")
    seal = Seal(number, sealed_at, *sealed, snapshot, previous, b"", format_, *log)
    return seal._replace(hash=_hash_of(seal))


def follow_seals(seals: Iterable[Seal]) -> Iterator[HouseFault]:
    """The faults in the chain of all seals, which begins with number 1."""
    number, previous = 0, b""
    for seal in seals:
        if seal.number != number + 1:
            yield HouseFault(
                Of.SEAL, seal.number, f"follows seal {number}: {seal.number - number - 1} missing before it"
            )
        elif seal.previous != previous:
            yield _fault(seal.number, "does not name the hash of the seal before it")
        if not seal.is_known:
            known = ", ".join(map(str, FORMATS))
            yield _fault(seal.number, f"is of format {seal.format}; this version knows {known}")
        elif seal.hash != _hash_of(seal):
            yield _fault(seal.number, "the hash does not match the row and the one before it")
        number, previous = seal.number, seal.hash


def _hash_of(seal: Seal) -> bytes:
    """Over the seal's other fields and the hash before. In the first format it does not cover the format."""
    at = (seal.sealed_at - _EPOCH) // _MICROSECOND
    facts: list[int | str | None] = [seal.number, at, seal.accounts, seal.transfers, seal.root.hex(), seal.snapshot]
    if seal.format > 1:
        facts += [seal.format, seal.log_entries, (seal.log_head or b"").hex()]
    return hashlib.sha256(seal.previous + orjson.dumps(facts)).digest()
