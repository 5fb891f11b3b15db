"""The lines of opening balances that are accepted, and the fault that is named in any other."""

from datetime import date

import pytest

from abacus.core.errors import Refused
from abacus.ledger.decide.opening_balance import OpeningBalance
from abacus.programs.opening.decide.line import BalanceLine, Fault, Known, order_of, read_line

TODAY = date(2026, 11, 21)
KNOWN = Known(frozenset({"GRP", "OVO"}), {"SG": TODAY, "ID": TODAY, "MY": TODAY}, frozenset({"MY"}))
GOOD = {"member_id": "bob", "program": "GRP", "country": "SG", "balance": "1250", "expires_on": "2027-06-30"}


def read(**changed: str) -> OpeningBalance | list[Fault]:
    return read_line(BalanceLine(7, tuple((GOOD | changed).values())), KNOWN)


@pytest.mark.parametrize(
    ("changed", "opening"),
    [
        ({}, OpeningBalance("bob", "GRP", "SG", 1250, date(2027, 6, 30))),
        ({"balance": "0", "expires_on": ""}, OpeningBalance("bob", "GRP", "SG", 0, None)),
        ({"balance": "0", "expires_on": "2020-01-31"}, OpeningBalance("bob", "GRP", "SG", 0, date(2020, 1, 31))),
        ({"country": "MY"}, OpeningBalance("bob", "GRP", "MY", 1250, date(2027, 6, 30), lifetime=True)),
        ({"balance": "007"}, OpeningBalance("bob", "GRP", "SG", 7, date(2027, 6, 30))),
        ({"balance": "1000000000000000"}, OpeningBalance("bob", "GRP", "SG", 10**15, date(2027, 6, 30))),
        ({"expires_on": "2026-11-21"}, OpeningBalance("bob", "GRP", "SG", 1250, TODAY)),
        ({"member_id": "søren æ"}, OpeningBalance("søren æ", "GRP", "SG", 1250, date(2027, 6, 30))),
        ({"program": "OVO", "country": "ID"}, OpeningBalance("bob", "OVO", "ID", 1250, date(2027, 6, 30))),
    ],
)
def test_a_good_line(changed: dict[str, str], opening: OpeningBalance) -> None:
    assert read(**changed) == opening


@pytest.mark.parametrize(
    ("changed", "field", "problem"),
    [
        ({"member_id": ""}, "member_id", "'' is not a member's id"),
        ({"member_id": " bob"}, "member_id", "no space at either end"),
        ({"member_id": "b" * 129}, "member_id", "1 to 128"),
        ({"member_id": "bo\x1fb"}, "member_id", "printable"),
        ({"member_id": "bo\nb"}, "member_id", "printable"),
        ({"member_id": "bob\n"}, "member_id", "printable"),
        ({"member_id": "b\udcf8b"}, "member_id", "is not UTF-8"),
        ({"program": "XYZ"}, "program", "'XYZ': no rate card issues these points"),
        ({"program": "grp"}, "program", "'grp': no name"),
        ({"country": "Singapore"}, "country", "'Singapore': no rate card has this scope"),
        ({"balance": "-1"}, "balance", "'-1' is not a whole number of points, 0 or more"),
        ({"balance": "1.0"}, "balance", "'1.0' is not a whole number"),
        ({"balance": "1,250"}, "balance", "'1,250' is not a whole number"),
        ({"balance": "\u0661"}, "balance", "is not a whole number"),
        ({"balance": ""}, "balance", "'' is not a whole number"),
        ({"balance": "1000000000000001"}, "balance", "is more than an account can be opened with"),
        ({"balance": "9" * 5000}, "balance", "9…"),
        ({"expires_on": ""}, "expires_on", "'': a day like 2026-07-31 is needed"),
        ({"expires_on": "31.12.2027"}, "expires_on", "a day like 2026-07-31 is needed"),
        ({"expires_on": "2027-W01-1"}, "expires_on", "a day like"),
        ({"expires_on": "2027-02-30"}, "expires_on", "a day like"),
        ({"expires_on": "9999-12-31"}, "expires_on", "a day like"),
        ({"expires_on": "2026-11-20"}, "expires_on", "2026-11-20 is over"),
        ({"balance": "0", "expires_on": "never"}, "expires_on", "a day like"),
    ],
)
def test_a_bad_line(changed: dict[str, str], field: str, problem: str) -> None:
    faults = read(**changed)
    assert isinstance(faults, list)
    assert [(fault.line, fault.field) for fault in faults] == [(7, field)]
    assert problem in faults[0].problem
    assert len(str(faults[0])) < 200


def test_everything_that_is_wrong_is_told() -> None:
    faults = read(member_id="", program="?", country="", balance="x", expires_on="x")
    assert isinstance(faults, list)
    assert [fault.field for fault in faults] == list(GOOD)


@pytest.mark.parametrize(
    ("header", "order"),
    [
        (["member_id", "program", "country", "balance", "expires_on"], (0, 1, 2, 3, 4)),
        (["expires_on", "balance", " country ", "program", "member_id"], (4, 3, 2, 1, 0)),
    ],
)
def test_the_columns_in_any_order(header: list[str], order: tuple[int, ...]) -> None:
    assert order_of(header) == order


@pytest.mark.parametrize(
    ("header", "line"),
    [
        (["member_id", "program", "country", "balance"], "no column 'expires_on'"),
        ([*GOOD, "nickname"], "the column 'nickname' is not known"),
        ([*GOOD, "member_id"], "the column 'member_id' stands there twice"),
        ([*GOOD, "tier"], "tiers are not imported"),
        (["member_id;program"], "no column 'member_id'; .*'member_id;program' is not known"),
    ],
)
def test_other_columns_are_refused(header: list[str], line: str) -> None:
    with pytest.raises(Refused, match=line):
        order_of(header)
