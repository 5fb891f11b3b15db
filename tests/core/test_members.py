"""Ids that no new member may have: they look like other ids, or run as formulas."""

import pytest

from abacus.core.members import fault_of_member, fault_of_new_member, strange_among

FINE = ["bob", "a b", "a=b", "1-2+3", "~x", "'x", "José", "ann@acme.example", "王五", "สมชาย", "मोहन", "😀", "_x", "."]
STRANGE = {
    "=1+1": "begins with =",
    "+65 1234": "begins with +",
    "-x": "begins with -",
    "@SUM(A1)": "begins with @",
    "bo\u200bb": "U+200B, zero width space",
    "\ufeffbob": "U+FEFF, zero width no-break space",
    "bo\u00adb": "U+00AD, soft hyphen",
    "bob\u202e": "U+202E, right-to-left override",
    "\u2067bob\u2069": "U+2067, right-to-left isolate",
    "a\u00a0b": "U+00A0, no-break space",
    "a\u3000b": "U+3000, ideographic space",
    "a\u2028b": "U+2028, line separator",
    "\u3164": "U+3164, hangul filler",
    "a\ufe0fb": "U+FE0F, variation selector-16",
    "a\ue000b": "U+E000, without a name",
    "a\u2800b": "U+2800, braille pattern blank",
}


@pytest.mark.parametrize("member_id", FINE)
def test_an_id_that_people_see_is_fine(member_id: str) -> None:
    assert fault_of_new_member(member_id) is None


@pytest.mark.parametrize("member_id", STRANGE)
def test_an_id_that_deceives_is_none_for_a_new_member(member_id: str) -> None:
    """Members of before keep it."""
    fault = fault_of_new_member(member_id)
    assert fault is not None
    assert STRANGE[member_id] in fault
    assert fault_of_member(member_id) is None
    assert strange_among([member_id, *FINE]) == [member_id]
