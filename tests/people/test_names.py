"""What a person may be called: small ASCII letters, so that nobody passes for another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.people.decide.names import checked_person_id, parse_grant, parse_grants
from abacus.people.types.person import Grant, Role


@pytest.mark.parametrize("name", ["ann", "a", "ann.lee@shop.example", "7of9", "ann+night", "a" * 64])
def test_a_name_is_taken_as_it_is(name: str) -> None:
    assert checked_person_id(name) == name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ann\u200b", "U+200B ZERO WIDTH SPACE is not allowed"),
        ("\u0430nn", "U+0430 CYRILLIC SMALL LETTER A is not allowed"),
        ("\uff41nn", "U+FF41 FULLWIDTH LATIN SMALL LETTER A is not allowed"),
        ("a\u0301nn", "U+0301 COMBINING ACUTE ACCENT is not allowed"),
        ("Ann", "U+0041 LATIN CAPITAL LETTER A is not allowed"),
        ("ann\n", "U+000A a character without a name is not allowed"),
        (" ann", "U+0020 SPACE is not allowed"),
        ("person:ann", "U+003A COLON is not allowed"),
        ("", "a person's id has 1 to 64 small letters"),
        (".ann", "begins with a letter or digit"),
        ("a" * 65, "65 characters"),
    ],
)
def test_a_name_that_could_be_taken_for_another_is_refused(name: str, why: str) -> None:
    with pytest.raises(Refused) as refused:
        checked_person_id(name)
    assert why in str(refused.value)
    assert str(refused.value).isascii()


@given(st.text(max_size=70))
def test_every_name_that_is_taken_is_plain(name: str) -> None:
    try:
        checked_person_id(name)
    except Refused:
        return
    assert name.isascii()
    assert name == name.casefold() == name.strip()
    assert 1 <= len(name) <= 64


@pytest.mark.parametrize(
    ("text", "grant"),
    [
        ("support:SG", Grant(Role.SUPPORT, "SG")),
        ("admin", Grant(Role.ADMIN)),
        ("country_editor:ID", Grant(Role.COUNTRY_EDITOR, "ID")),
    ],
)
def test_roles_are_written_as_they_are_read(text: str, grant: Grant) -> None:
    assert parse_grant(text) == grant
    assert str(grant) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("boss", "no role is called 'boss'; there are viewer,"),
        ("support:sg", "'sg' is not a country; write two capitals (support:SG)"),
        ("support:", "'' is not a country"),
        ("support:SG:ID", "'SG:ID' is not a country"),
    ],
)
def test_what_is_no_role(text: str, why: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_grant(text)
    assert why in str(refused.value)


def test_a_role_everywhere_stands_for_the_same_role_in_one_country() -> None:
    assert list(map(str, parse_grants(["support:SG", "admin", "support", "viewer:ID", "viewer:ID"]))) == [
        "viewer:ID",
        "support",
        "admin",
    ]
