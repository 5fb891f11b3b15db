"""Keys, rates of requests, and values of a partner: small rules, each by itself."""

from datetime import UTC, datetime

import pytest

from abacus.core.errors import Refused
from abacus.intake.partners.decide.keys import (
    digest_of,
    is_key,
    is_test_key,
    looks_like_key,
    new_key,
    new_test_key,
    prefix_of,
)
from abacus.intake.partners.decide.partner import Partner, checked

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PARTNER = Partner(
    partner_id="acme",
    name="Acme",
    fixed_points=True,
    computed_points=False,
    countries=("SG",),
    card_scope=None,
    requests_per_minute=60,
    signing_secret=None,
    created_at=NOW,
    created_by="ann",
    disabled_at=None,
)


def test_keys_are_new_each_time_and_proved_by_all_of_them() -> None:
    keys = [new_key() for _ in range(50)]
    assert len({key.text for key in keys}) == len({key.prefix for key in keys}) == 50
    key = keys[0]
    assert looks_like_key(key.text)
    assert key.prefix == prefix_of(key.text) == key.text[:21]
    assert len(key.text) - len(key.prefix) == 43  # 62 ** 43 > 2 ** 256
    assert is_key(key.text, key.digest)
    assert not is_key(key.text[:-1] + ("a" if key.text[-1] != "a" else "b"), key.digest)
    assert len(digest_of(key.text)) == 32


def test_a_key_says_whether_it_is_for_the_sandbox() -> None:
    live, test = new_key(), new_test_key()
    assert (live.text[:9], test.text[:9]) == ("abk_live_", "abk_test_")
    assert [is_test_key(key.text) for key in (live, test)] == [False, True]
    assert all(looks_like_key(key.text) and key.prefix == key.text[:21] for key in (live, test))


@pytest.mark.parametrize(
    "text",
    ["", "abk_live_", "abk_prod_" + "a" * 55, "abk_test_" + "a" * 54, "abk_live_" + "a" * 54, "abk_live_" + "é" * 55],
)
def test_what_is_no_key(text: str) -> None:
    assert not looks_like_key(text)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"partner_id": "Acme"}, "small letters"),
        ({"partner_id": "a:b"}, "small letters"),
        ({"name": " "}, "--name"),
        ({"fixed_points": False}, "may award nothing"),
        ({"countries": ("sg",)}, "'sg' is not a country"),
        ({"requests_per_minute": 0}, "--requests-per-minute"),
    ],
)
def test_a_partner_that_makes_no_sense(changes: dict[str, object], what: str) -> None:
    with pytest.raises(Refused, match=what):
        checked(PARTNER._replace(**changes))  # type: ignore[arg-type]  # a table of changes
