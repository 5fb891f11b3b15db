"""Rate cards: the values that a document may hold, and documents that come back the same."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.core.fields import Fault
from abacus.core.points import MAX_POINTS, Multiplier, Points, Rounding, plain
from abacus.pricing.decide.card import (
    BASE_TIER,
    CardFaults,
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
from abacus.pricing.decide.point_value import PointValue
from tests.pricing.card_document import SINGAPORE


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
            mapping["food"] = Decimal(9)  # type: ignore[index]  # the test shows that it cannot be done


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
    value = st.builds(PointValue, multipliers.filter(bool), multipliers.filter(bool))
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
        point_value=draw(st.none() | value),
        vests_after_days=draw(st.none() | st.integers(1, 28)),
    )


@pytest.mark.long
@given(cards())
def test_a_card_survives_its_documents(card: RateCard) -> None:
    document = to_document(card)
    assert parse_card(document) == card
    assert to_document(parse_card(document)) == document
    assert parse_toml(to_toml(card)) == card


@pytest.mark.long
@given(cards())
def test_digits_survive_as_they_were_written(card: RateCard) -> None:
    again = parse_card(to_document(card))
    assert digits(again.verticals) == digits(card.verticals)


def digits(prices: Mapping[str, Multiplier]) -> dict[str, str]:
    return {name: plain(multiplier) for name, multiplier in prices.items()}


@pytest.mark.long
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
