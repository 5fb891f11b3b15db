"""A seal, the chain of seals, a proof, and the event: as others check them."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from abacus.core.errors import Refused
from abacus.people.types.deed import LogHead
from abacus.proof.decide.merkle import Tree
from abacus.proof.decide.proof import Proof, proof_of, read_proof
from abacus.proof.decide.seal import CURRENT, FORMATS, Head, Seal, Sealed, follow_seals, next_seal
from abacus.proof.decide.seal_event import LedgerSealed, encode_sealed

AT = datetime(2026, 6, 1, 12, 30, 0, 5, tzinfo=UTC)
HEADS = [Head(f"m{number}", "GRP", number + 1, 10 * number - 5, bytes([number]) * 32) for number in range(5)]


def sealed(*heads: Head) -> Sealed:
    tree = Tree()
    for head in heads:
        tree.add(head.leaf(CURRENT))
    return Sealed(len(heads), sum(head.seq for head in heads), tree.root())


def seals() -> list[Seal]:
    chain: list[Seal] = []
    for count in range(1, 5):
        chain.append(
            next_seal(
                chain[-1] if chain else None,
                sealed(*HEADS[:count]),
                f"{count}:{count}:",
                AT,
                LogHead(count, b"\2" * 32),
            )
        )
    return chain


def proof(place: int, heads: list[Head] = HEADS) -> Proof:
    tree = Tree()
    for number, head in enumerate(heads):
        tree.add(head.leaf(CURRENT), watch=number == place)
    seal = next_seal(None, Sealed(len(heads), 15, tree.root()), "1:1:", AT, LogHead())
    return proof_of(seal, heads[place], place, tree.path)


def test_a_leaf_as_the_documents_define_it() -> None:
    text = json.dumps(["m1", "GRP", 2, 5, "01" * 32], separators=(",", ":"))
    assert HEADS[1].leaf(CURRENT) == hashlib.sha256(b"\x00" + text.encode()).digest()


def test_a_seals_hash_as_the_documents_define_it() -> None:
    first, second, *_ = seals()
    facts = [2, 1780317000000005, 2, 3, second.root.hex(), "2:2:", 2, 2, "02" * 32]
    text = json.dumps(facts, separators=(",", ":"))
    assert second.hash == hashlib.sha256(first.hash + text.encode()).digest()
    assert (first.number, first.previous, second.previous) == (1, b"", first.hash)


def test_a_seal_of_a_format_that_this_version_does_not_know() -> None:
    first, second, *_ = seals()
    unknown = second._replace(format=9)
    assert [str(fault) for fault in follow_seals([first, unknown])] == [
        "seal 2: is of format 9; this version knows 1, 2"
    ]


def test_a_later_format_has_a_chain_with_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The leaf gets a fictitious field: earlier seals stay as they are, later seals cover the field."""
    first, *_ = seals()
    monkeypatch.setitem(FORMATS, 3, lambda head: (*FORMATS[1](head), "a field"))
    later = next_seal(first, sealed(*HEADS), "9:9:", AT, LogHead(), format_=3)
    assert later.format == 3
    assert HEADS[0].leaf(1) == HEADS[0].leaf(2) != HEADS[0].leaf(3)
    assert list(follow_seals([first, later])) == []
    told = [str(fault) for fault in follow_seals([first, later._replace(format=1)])]
    assert told == ["seal 2: the hash does not match the row and the one before it"]


def test_a_chain_of_seals_that_is_sound() -> None:
    assert list(follow_seals(seals())) == []
    assert list(follow_seals([])) == []


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"root": b"x" * 32}, ["seal 2: the hash does not match"]),
        ({"accounts": 7}, ["seal 2: the hash does not match"]),
        ({"snapshot": "9:9:"}, ["seal 2: the hash does not match"]),
        ({"sealed_at": datetime(2025, 1, 1, tzinfo=UTC)}, ["seal 2: the hash does not match"]),
        ({"hash": b"x" * 32}, ["seal 2: the hash does not match", "seal 3: does not name the hash of the seal before"]),
        ({"previous": b"x" * 32}, ["seal 2: does not name the hash of the seal before", "seal 2: the hash does not"]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_a_changed_seal_is_named(changed: dict[str, Any], expected: list[str]) -> None:
    first, second, *others = seals()
    told = [str(fault) for fault in follow_seals([first, second._replace(**changed), *others])]
    assert len(told) == len(expected)
    assert all(line.startswith(part) for line, part in zip(told, expected, strict=True)), told


def test_a_missing_seal_is_named() -> None:
    first, _, third, fourth = seals()
    assert [str(fault) for fault in follow_seals([first, third, fourth])] == [
        "seal 3: follows seal 1: 1 missing before it"
    ]


@pytest.mark.parametrize("place", range(len(HEADS)))
def test_a_proof_holds_after_it_was_a_file(place: int) -> None:
    read = read_proof(proof(place).model_dump_json().encode())
    assert read == proof(place)
    assert read.fault() is None
    assert read.fault(read.seal.root.upper()) is None
    assert "the seal's root is" in (read.fault("00" * 32) or "")


@pytest.mark.parametrize(
    "changed",
    [
        {"balance": 6},
        {"seq": 9},
        {"member_id": "m2"},
        {"program": "OVO"},
        {"head_hash": "ab" * 32},
        {"index": 2},
        {"index": 99},
        {"path": []},
        {"path": ["00" * 32] * 3},
    ],
    ids=str,
)
def test_a_changed_proof_does_not_hold(changed: dict[str, Any]) -> None:
    assert proof(1).model_copy(update=changed).fault() is not None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"{", "not a proof: Invalid JSON"),
        (b"[]", "not a proof: Input should be an object"),
        (proof(1).model_copy(update={"v": 2}).model_dump_json(warnings=False).encode(), "not a proof: v: "),
        (proof(1).model_copy(update={"head_hash": "xyz"}).model_dump_json().encode(), "not a proof: head_hash: "),
        (proof(1).model_copy(update={"path": ["ab"]}).model_dump_json().encode(), "not a proof: path.0: "),
        (json.dumps({"v": 1}).encode(), "not a proof: member_id: "),
    ],
    ids=["cut off", "a list", "another version", "no hash", "a short hash", "nearly empty"],
)
def test_what_is_no_proof_is_refused(text: bytes, line: str) -> None:
    with pytest.raises(Refused) as refused:
        read_proof(text)
    assert str(refused.value).startswith(line)


def test_the_event_as_other_programs_see_it() -> None:
    first, second, *_ = seals()
    text = encode_sealed(second)
    assert json.loads(text) == {
        "specversion": "1.0",
        "id": "seal:2",
        "source": "abacus/ledger",
        "type": "abacus.ledger.sealed.v1",
        "subject": "seal:2",
        "time": "2026-06-01T12:30:00.000005+00:00",
        "datacontenttype": "application/json",
        "data": {
            "number": 2,
            "sealed_at": "2026-06-01T12:30:00.000005+00:00",
            "accounts": 2,
            "transfers": 3,
            "root": second.root.hex(),
            "snapshot": "2:2:",
            "previous": first.hash.hex(),
            "hash": second.hash.hex(),
            "log_entries": 2,
            "log_head": "02" * 32,
        },
    }
    assert LedgerSealed.model_validate_json(text).data.number == 2
