"""Tokens of every form: new each time, proved by all of their characters, and nothing else passes for one."""

import pytest

from abacus.core.tokens import PERSON_TOKEN, TokenForm, digest_of, has_digest
from abacus.intake.partners.decide.partner import LIVE_KEY, TEST_KEY

FORMS = [LIVE_KEY, TEST_KEY, PERSON_TOKEN]


@pytest.mark.parametrize("form", FORMS)
def test_tokens_are_new_each_time_and_proved_by_all_of_them(form: TokenForm) -> None:
    tokens = [form.new() for _ in range(50)]
    assert len({token.text for token in tokens}) == len({token.prefix for token in tokens}) == 50
    token = tokens[0]
    assert form.fits(token.text)
    assert token.prefix == form.prefix_of(token.text) == token.text[: len(form.start) + 12]
    assert len(token.text) - len(token.prefix) == 43  # 62 ** 43 > 2 ** 256
    assert has_digest(token.text, token.digest)
    assert not has_digest(token.text[:-1] + ("a" if token.text[-1] != "a" else "b"), token.digest)
    assert len(digest_of(token.text)) == 32


@pytest.mark.parametrize("form", FORMS)
def test_a_token_of_one_form_is_none_of_another(form: TokenForm) -> None:
    assert [each for each in FORMS if each.fits(form.new().text)] == [form]


@pytest.mark.parametrize(
    "text", ["", "abk_live_", "abk_test_" + "a" * 55, "abk_live_" + "a" * 54, "abk_live_" + "é" * 55, "a" * 55]
)
def test_what_is_no_key(text: str) -> None:
    assert not LIVE_KEY.fits(text)


def test_a_key_says_whether_it_is_for_the_sandbox() -> None:
    live, test = LIVE_KEY.new(), TEST_KEY.new()
    assert (live.text[:9], test.text[:9]) == ("abk_live_", "abk_test_")
    assert [key.text.startswith(TEST_KEY.start) for key in (live, test)] == [False, True]
