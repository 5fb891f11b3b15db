"""Single codes: what is typed, what a file may hold, and which code goes to which use."""

from collections.abc import Sequence

import pytest

from abacus.core.codes import drawn, spelled
from abacus.core.errors import Refused
from abacus.engage.offers.decide.code_file import codes_of
from abacus.engage.offers.decide.single_code import SingleCode, can_be_there, codes_for, digest_of, readable

OURS = drawn(lambda below: 7 % below)
WRONG = OURS[:-1] + ("2" if OURS[-1] != "2" else "3")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (spelled(OURS).lower(), OURS),
        ("summer 24", "SUMMER24"),
        ("olI-1", "0111"),
        ("ab", None),
        ("A" * 65, None),
        ("SUMMER_24", None),
        ("", None),
    ],
)
def test_typed(typed: str, expected: str | None) -> None:
    assert readable(typed) == expected


@pytest.mark.parametrize(
    ("code", "all_checked", "expected"),
    [(OURS, True, True), (WRONG, True, False), (WRONG, False, True), ("SUMMER24", True, False)],
)
def test_a_slip_is_noticed_where_all_codes_have_a_check_character(
    code: str, *, all_checked: bool, expected: bool
) -> None:
    assert can_be_there(code, all_checked=all_checked) == expected


def test_a_digest_is_of_the_key() -> None:
    assert digest_of(OURS, b"one") == digest_of(readable(spelled(OURS)) or "", b"one") != digest_of(OURS, b"two")


@pytest.mark.parametrize(
    ("rows", "is_checked", "expected"),
    [
        ([["A-1b"], ["  "], ["summer"]], False, ["A1B", "SUMMER"]),
        ([["code"], ["abc"]], False, ["ABC"]),
        ([["name", " Code "], ["ann", "abc"], ["ben", "abd"]], False, ["ABC", "ABD"]),
        ([["abc", "more"], ["abd"]], False, ["ABC", "ABD"]),
        ([[OURS]], True, [OURS]),
        ([["abc"], ["?"]], False, "line 2: no code; a code has 3 to 64 letters and digits"),
        ([["x", "code"], ["abc"]], False, "line 2: no code"),
        ([[OURS], [WRONG]], True, "line 2: the check character is wrong"),
        ([["summer24"]], True, "line 1: the check character is wrong"),
    ],
)
def test_a_file(rows: Sequence[Sequence[str]], *, is_checked: bool, expected: Sequence[str] | str) -> None:
    if isinstance(expected, str):
        with pytest.raises(Refused, match=expected):
            list(codes_of(rows, is_checked=is_checked))
    else:
        assert list(codes_of(rows, is_checked=is_checked)) == expected


def of(offer: str, digest: bytes) -> SingleCode:
    return SingleCode(offer, 1, 1, digest)


A, B, ALSO_A = of("lunch", b"a"), of("lunch", b"b"), of("tea", b"a")


@pytest.mark.parametrize(
    ("offers", "typed", "expected"),
    [
        ([], [[A]], []),
        (["lunch"], [[A]], [A]),
        (["lunch"], [[ALSO_A]], [None]),
        (["lunch", "lunch"], [[A]], [A, None]),
        (["lunch", "lunch"], [[A], [B]], [A, B]),
        (["tea", "lunch"], [[A, ALSO_A], [B]], [ALSO_A, B]),
        (["tea", "lunch"], [[A, ALSO_A]], [ALSO_A, None]),
        (["lunch"], [], [None]),
    ],
)
def test_each_use_has_a_code_of_its_own(
    offers: Sequence[str], typed: Sequence[Sequence[SingleCode]], expected: Sequence[SingleCode | None]
) -> None:
    assert codes_for(offers, typed) == expected
