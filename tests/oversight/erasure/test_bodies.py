"""The messages in the quarantine that are about a member, and the rest of an envelope without the member."""

import json
from base64 import b64encode
from typing import Any

import pytest

from abacus.oversight.erasure.decide.bodies import renamed_accounts, without
from abacus.platform.sqs.compressed_envelope import compressed, unpack

BOBS: dict[str, Any] = {"type": "transaction.completed", "member_id": "bob", "transaction_id": "T-1"}
CAROLS: dict[str, Any] = BOBS | {"member_id": "carol"}


def body(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def retried(transaction: Any) -> dict[str, Any]:
    return {"transaction": json.dumps(transaction), "origin": "t:0:1"}


def coded(transaction: Any) -> dict[str, Any]:
    return {"transaction_base64": b64encode(body(transaction)).decode(), "origin": "t:0:1"}


@pytest.mark.parametrize(
    "document",
    [
        BOBS,
        {"user": "bob"},
        {"user": {"ids": ["x", "bob"]}},
        {"awards": [BOBS]},
        {"retries": [retried(BOBS), coded(BOBS)]},
        {"accounts": [["bob", "GRP"], ["bob", "OVO"]]},
    ],
)
def test_all_of_it_is_about_the_member(document: Any) -> None:
    assert without(body(document), "bob") is None


@pytest.mark.parametrize(
    "document",
    [
        CAROLS,
        CAROLS | {"transaction_id": "bob"},
        {"user": "bobby"},
        {"awards": [CAROLS]},
        {"retries": [retried(CAROLS), coded(CAROLS)]},
        {"accounts": [["carol", "bob"]]},
        {"awards": []},
    ],
)
def test_nothing_of_it_is(document: Any) -> None:
    assert without(body(document), "bob") == body(document)


@pytest.mark.parametrize(
    ("document", "left"),
    [
        ({"v": 1, "awards": [BOBS, CAROLS]}, {"v": 1, "awards": [CAROLS]}),
        ({"v": 1, "retries": [retried(CAROLS), coded(BOBS)]}, {"v": 1, "retries": [retried(CAROLS)]}),
        ({"accounts": [["bob", "GRP"], ["carol", "GRP"]]}, {"accounts": [["carol", "GRP"]]}),
    ],
)
def test_an_envelope_keeps_what_is_about_others(document: Any, left: Any) -> None:
    remainder = without(body(document), "bob")
    assert remainder is not None
    assert json.loads(remainder) == left


def test_a_compressed_envelope_is_looked_into() -> None:
    both, carols = compressed(body({"v": 1, "awards": [BOBS, CAROLS]}), 2), compressed(body({"awards": [CAROLS]}), 1)
    left = unpack(without(both.encode(), "bob") or b"")
    assert (json.loads(left.body), left.items) == ({"v": 1, "awards": [CAROLS]}, 1)
    assert without(carols.encode(), "bob") == carols.encode()
    assert without(compressed(body({"v": 1, "awards": [BOBS]}), 7).encode(), "bob") is None


@pytest.mark.parametrize(("name", "is_about"), [("bob", True), ("bobby", False)])
def test_of_a_compressed_envelope_that_makes_no_sense_what_can_be_unpacked_is_looked_at(
    name: str,
    is_about: bool,  # noqa: FBT001  # a row
) -> None:
    endless = compressed(f'{{"awards":[{{"member_id":"{name}'.encode() + b" " * 1_000_000, 1).encode()
    assert (without(endless, "bob") is None) == is_about


@pytest.mark.parametrize(
    ("broken", "is_about"),
    [(b'{"member_id":"bob', True), (b"\xff bob \xff", True), (b'{"member_id":"bobby', False), (b"", False)],
)
def test_what_makes_no_sense_is_about_whom_it_names(broken: bytes, is_about: bool) -> None:  # noqa: FBT001  # a row
    assert (without(broken, "bob") is None) == is_about


def test_an_escaped_name_is_a_name() -> None:
    assert without(b'{"member_id":"b\\u006fb"}', "bob") is None


def test_accounts_that_are_to_lapse_lapse_under_the_pseudonym() -> None:
    envelope = '{"v":1,"accounts":[["bob","GRP"],["carol","GRP"]]}'
    assert renamed_accounts(envelope, "bob", "erased-1") == '{"v":1,"accounts":[["erased-1","GRP"],["carol","GRP"]]}'
    assert renamed_accounts(envelope, "dave", "erased-1") == envelope
