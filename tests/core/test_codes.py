"""Codes are typed as people type, and slips are noticed."""

import random

import pytest

from abacus.core.codes import ALPHABET, LENGTH, check_character, drawn, is_ours, normalized, spelled

CODE = drawn(random.Random(1).randrange)


def test_a_code_is_drawn_from_letters_that_nobody_confuses() -> None:
    codes = {drawn(random.Random(seed).randrange) for seed in range(1000)}
    assert len(codes) == 1000
    assert set("".join(codes)) == set(ALPHABET)
    assert not set("01OIL") & set(ALPHABET)
    assert all(len(code) == LENGTH and is_ours(code) for code in codes)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (spelled(CODE), CODE),
        (f" {spelled(CODE).lower()}\n", CODE),
        (CODE.replace(CODE[3:6], f"{CODE[3:5]} {CODE[5]}"), CODE),
        ("SUMMER-24", "SUMMER24"),
        ("lOIl-2o", "101120"),
        ("", ""),
    ],
)
def test_typed(typed: str, expected: str) -> None:
    assert normalized(typed) == expected


def test_every_wrong_character_and_every_exchange_is_noticed() -> None:
    wrong = [CODE[:place] + letter + CODE[place + 1 :] for place in range(LENGTH) for letter in ALPHABET]
    assert [code for code in wrong if is_ours(code)] == [CODE] * LENGTH
    body = CODE[:-1]
    for place in range(len(body) - 1):
        exchanged = body[:place] + body[place + 1] + body[place] + body[place + 2 :]
        assert (check_character(exchanged) == CODE[-1]) == (exchanged == body)


@pytest.mark.parametrize("text", ["", "A", CODE[:-1], CODE + "A", "0" * LENGTH, "SUMMER24"])
def test_no_code_of_ours(text: str) -> None:
    assert not is_ours(text)
