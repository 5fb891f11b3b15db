"""Every fault that a rate card's document may have is named with its path."""

import pytest

from abacus.core.errors import Refused
from abacus.core.fields import Fault
from abacus.pricing.decide.card import (
    CardFaults,
    parse_card,
    parse_toml,
    to_document,
)
from tests.pricing.card_document import SINGAPORE

# One row a case: the line of the card, its replacement, every fault that this makes.
FAULTS = [
    ('food = "2"', 'food = "-2"', "verticals.food: '-2' is negative"),
    ('food = "2"', 'food = "-0"', "verticals.food: '-0' is negative"),
    ('food = "2"', 'food = "two"', "verticals.food: 'two' is not a plain decimal number such as \"1.5\""),
    ('food = "2"', 'food = "1e3"', "verticals.food: '1e3' is not a plain decimal number such as \"1.5\""),
    ('food = "2"', 'food = "NaN"', "verticals.food: 'NaN' is not a plain decimal number such as \"1.5\""),
    ('food = "2"', 'food = "Infinity"', "verticals.food: 'Infinity' is not a plain decimal number such as \"1.5\""),
    ('food = "2"', 'food = "1,5"', "verticals.food: '1,5' is not a plain decimal number such as \"1.5\""),
    ('food = "2"', 'food = ".5"', "verticals.food: '.5' is not a plain decimal number such as \"1.5\""),
    ('food = "2"', 'food = "2 "', "verticals.food: '2 ' is not a plain decimal number such as \"1.5\""),
    ('food = "2"', 'food = "٢"', "verticals.food: '٢' is not a plain decimal number such as \"1.5\""),
    ('food = "2"', 'food = ""', "verticals.food: '' is not a plain decimal number such as \"1.5\""),
    (
        'food = "2"',
        'food = "1234567890123"',
        "verticals.food: '1234567890123' has more than 12 digits before or after the point",
    ),
    (
        'food = "2"',
        'food = "0.0000000000001"',
        "verticals.food: '0.0000000000001' has more than 12 digits before or after the point",
    ),
    ('eppf = "1"', "eppf = 1.5", 'eppf: 1.5 is a float; write it as a string, "1.5"'),
    ('eppf = "1"', "eppf = 5e-5", 'eppf: 5e-05 is a float; write it as a string, "0.00005"'),
    ('eppf = "1"', "eppf = 1", 'eppf: 1 is an integer; write it as a string, "1"'),
    ('eppf = "1"', "eppf = -1.5", 'eppf: -1.5 is a float; write a multiplier as a string, such as "1.5"'),
    ('eppf = "1"', "eppf = inf", 'eppf: inf is a float; write a multiplier as a string, such as "1.5"'),
    ('eppf = "1"', "eppf = true", 'eppf: true is a boolean; write a multiplier as a string, such as "1.5"'),
    ('eppf = "1"', "eppf = []", 'eppf: an array; write a multiplier as a string, such as "1.5"'),
    ('eppf = "1"', "eppf = {}", 'eppf: a table; write a multiplier as a string, such as "1.5"'),
    ('eppf = "1"', "", "eppf: missing"),
    ('eppf = "1"', 'epff = "1"', "eppf: missing\nepff: unknown; did you mean eppf?"),
    ('eppf = "1"', 'eppf = "1"\nowner = "me"', "owner: unknown"),
    (
        'scope = "SG"',
        'scope = "sg"',
        "scope: 'sg' is not a scope; write the two capitals of a country (SG) or partner:name",
    ),
    (
        'scope = "SG"',
        'scope = "partner:Acme"',
        "scope: 'partner:Acme' is not a scope; write the two capitals of a country (SG) or partner:name",
    ),
    (
        'scope = "SG"',
        'scope = "SG\\n"',
        "scope: 'SG\\n' is not a scope; write the two capitals of a country (SG) or partner:name",
    ),
    (
        'program = "GRP"',
        'program = "grab rewards"',
        "program: 'grab rewards' is not a program; write 1 to 16 capitals, digits and underscores (GRP)",
    ),
    ('currency = "SGD"', 'currency = "S$"', "currency: 'S$' is not a currency; write three capitals (SGD)"),
    ('currency = "SGD"', "currency = 702", "currency: 702 is an integer; write a string"),
    (
        'timezone = "Asia/Singapore"',
        'timezone = "Asia/Singapur"',
        "timezone: 'Asia/Singapur' is not a time zone; did you mean Asia/Singapore?",
    ),
    (
        'timezone = "Asia/Singapore"',
        'timezone = "+08:00"',
        "timezone: '+08:00' is not a time zone; write an IANA name such as Asia/Singapore",
    ),
    (
        "effective_from = 2026-01-01T00:00:00+08:00",
        "effective_from = 2026-01-01T00:00:00",
        "effective_from: 2026-01-01T00:00:00 has no offset; add the local one, such as 2026-01-01T00:00:00+08:00",
    ),
    (
        "effective_from = 2026-01-01T00:00:00+08:00",
        "effective_from = 2026-01-01",
        "effective_from: 2026-01-01 is a date; write a time with its offset, such as 2026-01-01T00:00:00+08:00",
    ),
    (
        "effective_from = 2026-01-01T00:00:00+08:00",
        'effective_from = "soon"',
        "effective_from: 'soon' is not a time such as 2026-01-01T00:00:00+08:00",
    ),
    (
        "effective_from = 2026-01-01T00:00:00+08:00",
        "effective_from = 0202-01-01T00:00:00+08:00",
        "effective_from: 0202-01-01T00:00:00+08:00 is not between the years 1970 and 3000",
    ),
    (
        'rounding = "floor"',
        'rounding = "up"',
        "rounding: 'up' is not a rounding; write one of floor, half_up, ceil",
    ),
    ("expiry_months = 6", "expiry_months = 0", "expiry_months: 0 is not between 1 and 60"),
    ("expiry_months = 6", "expiry_months = 61", "expiry_months: 61 is not between 1 and 60"),
    (
        "expiry_months = 6",
        "expiry_months = true",
        "expiry_months: true is a boolean; write a whole number without quotes",
    ),
    (
        "expiry_months = 6",
        'expiry_months = "6"',
        "expiry_months: '6' is a string; write a whole number without quotes",
    ),
    ('[verticals]\nfood = "2"', "[verticals]", "verticals: empty; write at least one entry"),
    ('[verticals]\nfood = "2"', "", "verticals: missing"),
    (
        'expiry_months = 6\n[verticals]\nfood = "2"',
        'expiry_months = 6\nverticals = "2"',
        "verticals: '2' is a string; write a table",
    ),
    ('[payment_types]\nwallet = "2"', "[payment_types]", "payment_types: empty; write at least one entry"),
    (
        'food = "2"',
        '"fo od" = "2"',
        'verticals."fo od": not a name; write at most 64 letters, digits, dots, dashes and underscores',
    ),
    (
        'food = "2"',
        '"\\u001b[2J" = "2"',
        'verticals."\\u001b[2J": not a name; write at most 64 letters, digits, dots, dashes and underscores',
    ),
    ('member = "1"\n', "", "tiers.member: missing; it is the tier of everybody who has no other"),
    (
        '"booking.cancelled_by_driver" = 100',
        "booking.cancelled_by_driver = 100",
        'fixed_awards.booking: a table; a name that holds a dot needs quotes: "booking.cancelled_by_driver"',
    ),
    ('"booking.cancelled_by_driver" = 100', "late = -1", "fixed_awards.late: -1 is negative"),
    (
        '"booking.cancelled_by_driver" = 100',
        "late = 1000000000000001",
        "fixed_awards.late: 1000000000000001 is not between 0 and 1000000000000000",
    ),
    (
        '"booking.cancelled_by_driver" = 100',
        "late = 1.5",
        "fixed_awards.late: 1.5 is a float; write a whole number without quotes",
    ),
    (
        '"booking.cancelled_by_driver" = 100',
        '"transaction.completed" = 1',
        "fixed_awards.transaction.completed: earns by its amount, so it cannot have a fixed award",
    ),
    (
        '"booking.cancelled_by_driver" = 100',
        '"transaction.refunded" = 1',
        "fixed_awards.transaction.refunded: earns by its amount, so it cannot have a fixed award",
    ),
    (
        "period_months = 6",
        "period_months = 5",
        "tier_policy.period_months: 5 does not divide a year; write 1, 2, 3, 4, 6 or 12",
    ),
    ("period_months = 6", "period_months = 24", "tier_policy.period_months: 24 is not between 1 and 12"),
    (
        "period_months = 6",
        "periods_month = 6",
        "tier_policy.period_months: missing\ntier_policy.periods_month: unknown; did you mean period_months?",
    ),
    (
        "{ gold = 1500 }",
        "{ gold = 0 }",
        "tier_policy.thresholds.gold: 0 is not between 1 and 1000000000000000",
    ),
    ("{ gold = 1500 }", "{ gold = -5 }", "tier_policy.thresholds.gold: -5 is negative"),
    (
        "{ gold = 1500 }",
        "{ ruby = 9 }",
        "tier_policy.thresholds.ruby: not a tier of this card; those are member, gold",
    ),
    (
        "{ gold = 1500 }",
        "{ member = 9 }",
        "tier_policy.thresholds.member: everybody begins with this tier, so it has no threshold",
    ),
    (
        'gold = "2.25"\n',
        "",
        "tier_policy.thresholds.gold: not a tier of this card; those are member",
    ),
    ("{ gold = 1500 }", "{}", "tier_policy.thresholds: empty; write at least one entry"),
    ("thresholds = { gold = 1500 }", "", "tier_policy.thresholds: missing"),
    ("expiry_months = 6", "expiry_months = 6\nvests_after_days = 0", "vests_after_days: 0 is not between 1 and 365"),
    (
        "expiry_months = 6",
        "expiry_months = 1\nvests_after_days = 29",
        "vests_after_days: after 29 days, points may have lapsed before they vest",
    ),
    ("[tier_policy]", "[point_value]\n[tier_policy]", "point_value.money: missing"),
    (
        "[tier_policy]",
        '[point_value]\nmoney = "1"\nstep = "0.0"\n[tier_policy]',
        "point_value.step: '0.0' is nothing; write an amount above 0",
    ),
    (
        "[tier_policy]",
        "[point_value]\nmoney = 0.01\n[tier_policy]",
        'point_value.money: 0.01 is a float; write it as a string, "0.01"',
    ),
    (
        "[tier_policy]",
        '[point_value]\nmoney = "1"\nsteps = "1"\n[tier_policy]',
        "point_value.steps: unknown; did you mean step?",
    ),
    ('food = "2"', 'food = "2', "line 10, column 10: not TOML: Illegal character '\\n'"),
    ('food = "2"', 'food = "2"\nfood = "3"', "line 11, column 11: not TOML: Cannot overwrite a value"),
    (SINGAPORE, "[verticals\nfood", "line 1, column 11: not TOML: Expected ']' at the end of a table declaration"),
    (SINGAPORE, "a = [\n", "line 2, column 1: not TOML: Invalid value"),
    (SINGAPORE, "a = " + "[" * 9_999, "document: nested too deeply"),
]


@pytest.mark.parametrize(("line", "instead", "faults"), FAULTS)
def test_each_fault_is_named_with_its_path(line: str, instead: str, faults: str) -> None:
    assert SINGAPORE.count(line) == 1
    with pytest.raises(CardFaults) as refused:
        parse_toml(SINGAPORE.replace(line, instead))
    assert str(refused.value) == faults


def test_equal_thresholds_would_leave_the_tier_open() -> None:
    document = to_document(parse_toml(SINGAPORE))
    document["tiers"] = {"member": "1", "silver": "1.5", "gold": "2"}
    document["tier_policy"] = {"period_months": 6, "thresholds": {"silver": 300, "gold": 300}}
    with pytest.raises(CardFaults) as refused:
        parse_card(document)
    assert refused.value.faults == (Fault("tier_policy.thresholds.gold", "300 is the threshold of silver already"),)


def test_all_faults_are_told_at_once() -> None:
    text = SINGAPORE.replace('"2.25"', '"-1"').replace('"SGD"', '"sgd"').replace("gold = 1500", "ruby = 0")
    with pytest.raises(CardFaults) as refused:
        parse_toml(text)
    assert [fault.path for fault in refused.value.faults] == [
        "currency",
        "tiers.gold",
        "tier_policy.thresholds.ruby",
        "tier_policy.thresholds.ruby",
    ]
    assert isinstance(refused.value, Refused)


def test_an_empty_document_misses_every_required_field() -> None:
    with pytest.raises(CardFaults) as refused:
        parse_card({})
    assert [str(fault) for fault in refused.value.faults] == [
        f"{name}: missing"
        for name in (
            "scope",
            "program",
            "currency",
            "timezone",
            "effective_from",
            "eppf",
            "rounding",
            "expiry_months",
            "verticals",
            "payment_types",
            "tiers",
        )
    ]


@pytest.mark.parametrize("text", [f"eppf = 0x{'f' * 9_999}", f"eppf = {'9' * 9_999}", f"eppf = '{'9' * 9_999}'"])
def test_a_monstrous_value_is_a_short_fault(text: str) -> None:
    with pytest.raises(CardFaults) as refused:
        parse_toml(text)
    assert all(len(str(fault)) < 200 for fault in refused.value.faults)
