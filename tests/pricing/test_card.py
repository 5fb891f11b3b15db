"""Rate cards: what a document may hold, every fault of one that may not, and documents that come back the same."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.core.points import MAX_POINTS, Multiplier, Points, Rounding, plain
from abacus.pricing.decide.card import (
    BASE_TIER,
    CardFaults,
    Fault,
    PublishedCard,
    RateCard,
    TierPolicy,
    parse_card,
    parse_toml,
    split_name,
    to_document,
    to_toml,
)
from abacus.pricing.decide.diff import describe_changes

SINGAPORE = """\
scope = "SG"
program = "GRP"
currency = "SGD"
timezone = "Asia/Singapore"
effective_from = 2026-01-01T00:00:00+08:00
eppf = "1"
rounding = "floor"
expiry_months = 6
[verticals]
food = "2"
[payment_types]
wallet = "2"
[tiers]
member = "1"
gold = "2.25"
[fixed_awards]
"booking.cancelled_by_driver" = 100
[tier_policy]
period_months = 6
thresholds = { gold = 1500 }
"""

# One row a case: the line of the card, what stands there instead, every fault that this makes.
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


def test_the_card_of_a_document() -> None:
    card = parse_toml(SINGAPORE)
    assert card == RateCard(
        scope="SG",
        program="GRP",
        currency="SGD",
        timezone="Asia/Singapore",
        effective_from=datetime(2025, 12, 31, 16, tzinfo=UTC),
        eppf=Multiplier(Decimal(1)),
        rounding=Rounding.FLOOR,
        expiry_months=6,
        verticals={"food": Multiplier(Decimal(2))},
        payment_types={"wallet": Multiplier(Decimal(2))},
        tiers={"member": Multiplier(Decimal(1)), "gold": Multiplier(Decimal("2.25"))},
        fixed_awards={"booking.cancelled_by_driver": Points(100)},
        tier_policy=TierPolicy(6, {"gold": Points(1500)}),
    )
    assert card.zone.key == "Asia/Singapore"
    assert card.effective_from.isoformat() == "2026-01-01T00:00:00+08:00"
    assert PublishedCard(card, 7).name == "SG@7"
    assert hash(card) == hash(parse_card(to_document(card)))


def test_fixed_awards_and_tier_policy_may_be_left_out() -> None:
    card = parse_toml(SINGAPORE[: SINGAPORE.index("[fixed_awards]")])
    assert (card.fixed_awards, card.tier_policy) == ({}, None)


def test_a_card_cannot_be_changed() -> None:
    card = parse_toml(SINGAPORE)
    for mapping in (card.verticals, card.payment_types, card.tiers, card.fixed_awards):
        with pytest.raises(TypeError):
            mapping["food"] = Decimal(9)  # type: ignore[index]  # that it cannot be done is what the test is for


def test_a_card_without_an_offset_is_a_mistake_of_the_program() -> None:
    with pytest.raises(ValueError, match="no offset"):
        RateCard(
            scope="SG",
            program="GRP",
            currency="SGD",
            timezone="UTC",
            effective_from=datetime(2026, 1, 1),  # noqa: DTZ001  # the missing offset is the case
            eppf=Multiplier(Decimal(1)),
            rounding=Rounding.FLOOR,
            expiry_months=6,
            verticals={},
            payment_types={},
            tiers={},
        )


def test_an_offset_of_odd_seconds_gives_way_to_utc() -> None:
    text = SINGAPORE.replace("Asia/Singapore", "Africa/Monrovia").replace(
        "2026-01-01T00:00:00+08:00", "1971-01-01T00:00:00Z"
    )
    card = parse_toml(text)
    assert to_document(card)["effective_from"] == "1971-01-01T00:00:00+00:00"
    assert parse_toml(to_toml(card)) == card


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("SG", ("SG", None)),
        ("SG@7", ("SG", 7)),
        ("partner:acme-1", ("partner:acme-1", None)),
        ("partner:acme@12", ("partner:acme", 12)),
        ("SG@0", None),
        ("SG@07", None),
        ("SG@", None),
        ("SG@9999999999", None),
        ("SGP", None),
        ("sg.toml", None),
        ("", None),
    ],
)
def test_the_names_of_cards(name: str, outcome: tuple[str, int | None] | None) -> None:
    if outcome is None:
        with pytest.raises(Refused, match=re.escape(repr(name))):
            split_name(name)
    else:
        assert split_name(name) == outcome


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)
multipliers = st.builds(
    lambda digits, places: Multiplier(Decimal(digits).scaleb(-places)), st.integers(0, 10**12 - 1), st.integers(0, 12)
)
prices = st.dictionaries(names, multipliers, min_size=1, max_size=5)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
starts = st.datetimes(datetime(1971, 1, 1), datetime(2999, 1, 1), timezones=offsets)  # noqa: DTZ001  # as it asks for
zones = st.sampled_from(
    ["Asia/Singapore", "Asia/Jakarta", "Europe/Dublin", "America/St_Johns", "Africa/Monrovia", "UTC"]
)


@st.composite
def cards(draw: st.DrawFn) -> RateCard:
    tiers = {BASE_TIER: draw(multipliers), **draw(prices)}
    above = [tier for tier in tiers if tier != BASE_TIER]
    points = draw(st.lists(st.integers(1, MAX_POINTS), unique=True, min_size=len(above), max_size=len(above)))
    thresholds = {tier: Points(value) for tier, value in zip(above, points, strict=True)}
    policy = TierPolicy(draw(st.sampled_from([1, 2, 3, 4, 6, 12])), thresholds)
    return RateCard(
        scope=draw(st.from_regex(r"[A-Z]{2}|partner:[a-z0-9-]{1,20}", fullmatch=True)),
        program=draw(st.from_regex(r"[A-Z][A-Z0-9_]{0,15}", fullmatch=True)),
        currency=draw(st.from_regex(r"[A-Z]{3}", fullmatch=True)),
        timezone=draw(zones),
        effective_from=draw(starts),
        eppf=draw(multipliers),
        rounding=draw(st.sampled_from(Rounding)),
        expiry_months=draw(st.integers(1, 60)),
        verticals=draw(prices),
        payment_types=draw(prices),
        tiers=tiers,
        fixed_awards=draw(st.dictionaries(names, st.integers(0, MAX_POINTS).map(Points), max_size=3)),
        tier_policy=draw(st.none() | st.just(policy)) if above else None,
    )


@given(cards())
def test_a_card_survives_its_documents(card: RateCard) -> None:
    document = to_document(card)
    assert parse_card(document) == card
    assert to_document(parse_card(document)) == document
    assert parse_toml(to_toml(card)) == card


@given(cards())
def test_digits_survive_as_they_were_written(card: RateCard) -> None:
    again = parse_card(to_document(card))
    assert digits(again.verticals) == digits(card.verticals)


def digits(prices: Mapping[str, Multiplier]) -> dict[str, str]:
    return {name: plain(multiplier) for name, multiplier in prices.items()}


@given(cards(), cards())
def test_changes_are_described_exactly_when_cards_differ(old: RateCard, new: RateCard) -> None:
    assert describe_changes(old, parse_card(to_document(old))) == []
    assert bool(describe_changes(old, new)) == (old != new)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes() | st.dates() | st.times()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


@given(st.sampled_from(sorted(to_document(parse_toml(SINGAPORE)))), values)
def test_any_value_anywhere_is_read_or_is_a_fault_of_one_line(name: str, value: object) -> None:
    document = {**to_document(parse_toml(SINGAPORE)), name: value}
    faults, card = read(document)
    assert {fault.path.partition(".")[0] for fault in faults} <= {name, "tier_policy"}
    assert all(len(str(fault).splitlines()) == 1 for fault in faults)
    assert card is None or parse_card(to_document(card)) == card


def read(document: Mapping[str, object]) -> tuple[tuple[Fault, ...], RateCard | None]:
    try:
        return (), parse_card(document)
    except CardFaults as refused:
        return refused.faults, None
