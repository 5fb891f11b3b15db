"""Changes in words."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from abacus.core.points import Points, Rounding
from abacus.pricing.decide.card import TierPolicy, parse_toml
from abacus.pricing.decide.diff import describe_changes
from abacus.pricing.decide.point_value import PointValue

HERE = timezone(timedelta(hours=8))
OLD = parse_toml(
    """
    scope = "SG"
    program = "GRP"
    currency = "SGD"
    timezone = "Asia/Singapore"
    effective_from = 2026-01-01T00:00:00+08:00
    eppf = "1"
    rounding = "floor"
    expiry_months = 6
    verticals = { food = "2", rides = "3", mart = "0" }
    payment_types = { wallet = "2" }
    tiers = { member = "1", silver = "1.5" }
    fixed_awards = { "booking.late" = 100 }
    tier_policy = { period_months = 6, thresholds = { silver = 300 } }
    """
)
VERTICALS = dict(OLD.verticals)
TIERS = dict(OLD.tiers)

LATER = "effective from 2026-02-01 (was 2026-01-01): late transactions before that keep the old rates"
EARLIER = (
    "effective from 2025-12-01 (was 2026-01-01): earlier than the old card, which stays in force from its own start on"
)
SAME_DATE = (
    "effective from 2026-01-01T00:00:00+07:00 (was 2026-01-01T00:00:00+08:00): "
    "late transactions before that keep the old rates"
)


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({}, []),
        ({"verticals": {**VERTICALS, "food": Decimal("2.0")}}, []),
        ({"verticals": {**VERTICALS, "food": Decimal("2.5")}}, ["verticals.food: 2 → 2.5 (+25 %)"]),
        ({"verticals": {**VERTICALS, "rides": Decimal(1)}}, ["verticals.rides: 3 → 1 (-66.7 %)"]),
        ({"verticals": {**VERTICALS, "rides": Decimal(0)}}, ["verticals.rides: 3 → 0 (-100 %)"]),
        ({"verticals": {**VERTICALS, "mart": Decimal(1)}}, ["verticals.mart: 0 → 1"]),
        ({"eppf": Decimal("1.00005")}, ["eppf: 1 → 1.00005 (+0.005 %)"]),
        ({"eppf": Decimal(20000)}, ["eppf: 1 → 20000 (+2000000 %)"]),
        (
            {"payment_types": {"cash": Decimal(1)}},
            ["payment_types.cash: added at 1", "payment_types.wallet: removed (was 2)"],
        ),
        ({"tiers": {**TIERS, "gold": Decimal("2.25")}}, ["tiers.gold: added at 2.25"]),
        ({"fixed_awards": {}}, ["fixed_awards.booking.late: removed (was 100)"]),
        ({"fixed_awards": {"booking.late": 150}}, ["fixed_awards.booking.late: 100 → 150 (+50 %)"]),
        ({"expiry_months": 3}, ["expiry_months: 6 → 3"]),
        ({"rounding": Rounding.HALF_UP}, ["rounding: floor → half_up"]),
        ({"program": "OVO", "currency": "IDR"}, ["program: GRP → OVO", "currency: SGD → IDR"]),
        ({"tier_policy": None}, ["tier_policy: removed", "tier_policy.thresholds.silver: removed (was 300)"]),
        ({"tier_policy": TierPolicy(3, {"silver": Points(300)})}, ["tier_policy.period_months: 6 → 3"]),
        (
            {"tier_policy": TierPolicy(6, {"silver": Points(600)})},
            ["tier_policy.thresholds.silver: 300 → 600 (+100 %)"],
        ),
        ({"vests_after_days": 14}, ["vests_after_days: none → 14"]),
        (
            {"point_value": PointValue(Decimal("0.01"))},
            ["point_value.money: added at 0.01", "point_value.step: added at 0.01"],
        ),
        ({"effective_from": datetime(2026, 2, 1, tzinfo=HERE)}, [LATER]),
        ({"effective_from": datetime(2025, 12, 1, tzinfo=HERE)}, [EARLIER]),
        (
            {"timezone": "Asia/Jakarta", "effective_from": datetime(2026, 1, 1, 1, tzinfo=HERE)},
            ["timezone: Asia/Singapore → Asia/Jakarta", SAME_DATE],
        ),
    ],
)
def test_changes_in_words(change: dict[str, Any], lines: list[str]) -> None:
    assert describe_changes(OLD, replace(OLD, **change)) == lines


def test_a_policy_where_there_was_none() -> None:
    assert describe_changes(replace(OLD, tier_policy=None), OLD) == [
        "tier_policy: added, by periods of 6 months",
        "tier_policy.thresholds.silver: added at 300",
    ]


def test_a_start_within_a_day_is_told_with_its_time() -> None:
    noon = replace(OLD, effective_from=datetime(2026, 1, 1, 12, tzinfo=HERE))
    assert describe_changes(OLD, noon) == [
        "effective from 2026-01-01T12:00:00+08:00 (was 2026-01-01): late transactions before that keep the old rates"
    ]


def test_the_first_card_of_a_scope_is_all_new() -> None:
    assert describe_changes(None, replace(OLD, tier_policy=None)) == [
        "first card of SG, effective from 2026-01-01",
        "program: GRP",
        "currency: SGD",
        "timezone: Asia/Singapore",
        "rounding: floor",
        "expiry_months: 6",
        "expiry: activity",
        "on_shortfall: negative",
        "eppf: 1",
        "verticals.food: 2",
        "verticals.rides: 3",
        "verticals.mart: 0",
        "payment_types.wallet: 2",
        "tiers.member: 1",
        "tiers.silver: 1.5",
        "fixed_awards.booking.late: 100",
    ]
