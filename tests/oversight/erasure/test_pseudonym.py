"""A member becomes a pseudonym wherever the ledger names one, and nothing else changes."""

import json
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.ledger.decide.account_with_lots import AccountWithLots
from abacus.ledger.decide.chain import chain
from abacus.ledger.decide.lapse import MonthEnd, lapse
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import NO_HASH, Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.erasure.decide.pseudonym import Pseudonym, rechained
from tests.support.awards import NOW, awards_to_bob

NAME = "erased-" + "0" * 32
BOB = Pseudonym("bob", NAME)
END = MonthEnd("expiry:2028-01", date(2028, 1, 31), datetime(2028, 2, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("key", "renamed"),
    [
        ("import:oldsystem:bob:GRP", f"import:oldsystem:{NAME}:GRP"),
        ("expiry:2026-07:bob:GRP", f"expiry:2026-07:{NAME}:GRP"),
        ("expiry:2026-07", "expiry:2026-07"),
        ("import:oldsystem:bobby:GRP", "import:oldsystem:bobby:GRP"),
        ("import:bob:carol:GRP", "import:bob:carol:GRP"),
        ("import:oldsystem:a:bob:GRP", "import:oldsystem:a:bob:GRP"),
        ("txn:rides:bob", "txn:rides:bob"),
        ("api:bob:bob", "api:bob:bob"),
    ],
)
def test_keys(key: str, renamed: str) -> None:
    assert BOB.key(key) == renamed


def test_a_members_id_may_hold_colons() -> None:
    assert Pseudonym("a:b", NAME).key("import:old:a:b:GRP") == f"import:old:{NAME}:GRP"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"amount": "15.00",  "points":180}', b'{"amount": "15.00",  "points":180}'),
        (b'{"factors":[["vertical","bob","2"]],"points":1}', b'{"factors":[["vertical","bob","2"]],"points":1}'),
        (b'{"points":5,"reason":"for Bob, who called"}', b'{"points":5,"reason":"erased"}'),
        (
            b'{"points":-5,"of":"import:old:bob:GRP","reason":"x","by":"alice"}',
            f'{{"points":-5,"of":"import:old:{NAME}:GRP","reason":"erased","by":"alice"}}'.encode(),
        ),
        (b'{"with":{"member_id":"bob","note":"hi"}}', f'{{"with":{{"member_id":"{NAME}","note":"erased"}}}}'.encode()),
        ('{"reason":"x","tier":"größe"}'.encode(), '{"reason":"erased","tier":"größe"}'.encode()),
    ],
)
def test_explanations(before: bytes, after: bytes) -> None:
    assert BOB.explanation(before) == after


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("is posted for other facts: bob, GRP, seq 1", f"is posted for other facts: {NAME}, GRP, seq 1"),
        ("bobby and rebob", "bobby and rebob"),
        ("not 'bob'", f"not '{NAME}'"),
    ],
)
def test_sentences(text: str, renamed: str) -> None:
    assert BOB.text(text) == renamed


def history(awards: list[Award]) -> tuple[Account, list[Transfer]]:
    account, transfers = Account.opened(("bob", "GRP"), "SG"), []
    for number, award in enumerate(awards):
        account, transfer = apply(account, award._replace(key=f"import:old{number}:bob:GRP"), NOW)
        transfers.append(transfer)
    lapsed = lapse(AccountWithLots(account), END, END.lapsed_at)
    if lapsed is not None:
        account = lapsed.after.account
        transfers.append(lapsed.transfer)
    return account, transfers


KEPT = ("program", "seq", "kind", "points", "balance_after", "country", "occurred_at", "posted_at", "expires_on")


@given(st.lists(awards_to_bob, max_size=6), st.integers(0, 6))
def test_the_chain_is_whole_again_and_every_sum_as_it_was(awards: list[Award], cut: int) -> None:
    _, transfers = history(awards)
    first = rechained(transfers[:cut], BOB, NO_HASH)
    again = first + rechained(transfers[cut:], BOB, first[-1].hash if first else NO_HASH)
    head = NO_HASH
    for before, after in zip(transfers, again, strict=True):
        assert [getattr(after, name) for name in KEPT] == [getattr(before, name) for name in KEPT]
        assert after.hash == chain(head, after[:-1])
        assert after.hash != before.hash
        assert "bob" not in json.dumps([str(value) for value in after])
        head = after.hash
