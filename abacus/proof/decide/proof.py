"""A proof: an account's head and the path from it to a seal's root. With the root, anybody can check it alone. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from abacus.core.errors import Refused
from abacus.core.ids import ID_PATTERN, PROGRAM_PATTERN
from abacus.platform.validation import first_fault
from abacus.proof.decide.merkle import Tree, root_by_path
from abacus.proof.decide.seal import Head, Seal, Sealed, is_whole

_Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Count = Annotated[int, Field(strict=True, ge=0, lt=2**63)]


class ProvenBy(BaseModel):
    """The seal, as far as the proof needs it."""

    model_config = ConfigDict(title="ProvenBy")

    number: _Count
    sealed_at: datetime
    root: _Hash
    accounts: _Count


class InSlice(BaseModel):
    """The slice that has the account, as far as the proof needs it, and its path to the seal's root."""

    model_config = ConfigDict(title="InSlice")

    number: _Count
    slices: _Count
    accounts: _Count
    transfers: _Count
    root: _Hash
    path: Annotated[list[_Hash], Field(max_length=64)]


class Proof(BaseModel):
    """That the account had this balance and this chain of transfers when the seal was made."""

    model_config = ConfigDict(title="Proof")

    v: Literal[1]  # the format of its leaf
    member_id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    program: Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
    seq: _Count
    balance: Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
    head_hash: _Hash
    seal: ProvenBy
    index: _Count
    path: Annotated[list[_Hash], Field(max_length=64)]
    slice: InSlice | None = None  # where the ledger is cut: `index` and `path` lead to the slice's root

    def fault(self, root: str | None = None) -> str | None:
        """The proof's fault, or None. Only a root from elsewhere proves more than that the proof fits itself."""
        head = Head(self.member_id, self.program, self.seq, self.balance, bytes.fromhex(self.head_hash))
        path = [bytes.fromhex(each) for each in self.path]
        accounts = self.seal.accounts if self.slice is None else self.slice.accounts
        reached = root_by_path(head.leaf(self.v), self.index, accounts, path)
        if reached is None:
            return f"the path does not fit a tree of {accounts} accounts"
        if self.slice is not None:
            if reached.hex() != self.slice.root:
                return f"the path leads to the root {reached.hex()}, not to the slice's {self.slice.root}"
            leaf = Sealed(self.slice.accounts, self.slice.transfers, reached).leaf
            above = [bytes.fromhex(each) for each in self.slice.path]
            reached = root_by_path(leaf, self.slice.number, self.slice.slices, above)
            if reached is None:
                return f"the slice's path does not fit a tree of {self.slice.slices} slices"
        if reached.hex() != self.seal.root:
            return f"the path leads to the root {reached.hex()}, not to the seal's {self.seal.root}"
        if root is not None and root.lower() != self.seal.root:
            return f"the seal's root is {self.seal.root}, not {root.lower()}"
        return None


def proof_of(seal: Seal, head: Head, index: int, path: Sequence[bytes], slice_: InSlice | None = None) -> Proof:
    """The proof by this path, which leads to the slice's root where the ledger is cut."""
    return Proof(
        v=1,
        member_id=head.member_id,
        program=head.program,
        seq=head.seq,
        balance=head.balance,
        head_hash=head.head_hash.hex(),
        seal=ProvenBy(number=seal.number, sealed_at=seal.sealed_at, root=seal.root.hex(), accounts=seal.accounts),
        index=index,
        path=[each.hex() for each in path],
        slice=slice_,
    )


def in_slice(slices: Sequence[Sealed], number: int) -> InSlice | None:
    """The slice of that number among the seal's slices; None where its tree is the seal's."""
    if is_whole(slices):
        return None
    tree = Tree()
    for place, each in enumerate(slices):
        tree.add(each.leaf, watch=place == number)
    tree.root()
    return InSlice(
        number=number,
        slices=len(slices),
        accounts=slices[number].accounts,
        transfers=slices[number].transfers,
        root=slices[number].root.hex(),
        path=[each.hex() for each in tree.path],
    )


def read_proof(text: bytes) -> Proof:
    """Raises `Refused` for a document that is no proof."""
    try:
        return Proof.model_validate_json(text)
    except ValidationError as error:
        raise Refused(f"not a proof: {first_fault(error, shown=False)}") from None
