"""A fingerprint says whether two messages tell the same facts, however they write them."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.cards import CANCELLED, LUNCH, cancelled, lunch


def test_fingerprints_are_as_they_were_issued() -> None:
    """Claims keep fingerprints for ever: if they were computed otherwise, every redelivery would be a conflict."""
    assert (lunch().fingerprint, cancelled().fingerprint) == (
        "40ee3f022ec0c07f8618c7f63992ea5f",
        "570aab51f2f9c022d8219a45c7908ea7",
    )


@pytest.mark.parametrize(
    "written",
    [
        {"amount": "15"},
        {"amount": "15.0"},
        {"amount": "15.00000000"},
        {"amount": "0015.00"},
        {"occurred_at": "2026-01-10T04:30:00Z"},
        {"occurred_at": "2026-01-10T04:30:00.000000+00:00"},
        {"occurred_at": "2026-01-10T10:00:00+05:30"},
        {"occurred_at": "2026-01-09T23:30:00-05:00"},
        {"note": "a field that nobody asked for"},
        {"redemption_id": None},
        {"source": "meals", "transaction_id": "T-2"},  # they stand in the key
    ],
    ids=str,
)
def test_the_same_facts_written_otherwise(written: dict[str, Any]) -> None:
    assert lunch(**written).fingerprint == lunch().fingerprint


@pytest.mark.parametrize(
    "changed",
    [
        {"member_id": "bobby"},
        {"member_id": "Bob"},
        {"country": "ID"},
        {"vertical": "rides"},
        {"payment_type": "cash"},
        {"amount": "15.01"},
        {"amount": "1500"},
        {"amount": "0"},
        {"currency": "USD"},
        {"occurred_at": "2026-01-10T12:30:00.000001+08:00"},
        {"occurred_at": "2026-01-10T12:30:00+07:00"},
        {"vertical": "wallet", "payment_type": "food"},
        {"redemption_id": "03d1a7f0-51b8-8b44-9f2b-1c9f6d1f2a35"},
    ],
    ids=str,
)
def test_other_facts(changed: dict[str, Any]) -> None:
    assert lunch(**changed).fingerprint != lunch().fingerprint


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"occurred_at": "2026-01-10T04:30:00Z"}, True),
        ({"amount": "99.00"}, True),
        ({"type": "survey.answered"}, False),
        ({"member_id": "bobby"}, False),
        ({"country": "ID"}, False),
        ({"occurred_at": "2026-01-10T12:30:01+08:00"}, False),
    ],
    ids=["another offset", "an amount, which an event has not", "type", "member", "country", "time"],
)
def test_events(changed: dict[str, Any], same: bool) -> None:  # noqa: FBT001  # the expected outcome of a row
    assert (cancelled(**changed).fingerprint == cancelled().fingerprint) is same


facts = st.fixed_dictionaries(
    {},
    optional={
        "member_id": st.sampled_from(["bob", "1"]),
        "vertical": st.sampled_from(["food", "wallet"]),
        "payment_type": st.sampled_from(["food", "wallet"]),
        "amount": st.sampled_from(["1", "1.0", "10", "10.0", "0.1", "0.10", "0", "0.00"]),
        "occurred_at": st.builds(
            lambda second, hours: (
                (datetime(2026, 1, 10, tzinfo=UTC) + timedelta(seconds=second))
                .astimezone(timezone(timedelta(hours=hours)))
                .isoformat()
            ),
            st.integers(0, 2),
            st.sampled_from([-11, 0, 8, 14]),
        ),
    },
)


@given(facts, facts)
@settings(max_examples=300, deadline=None)
def test_equal_exactly_when_the_facts_are(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (lunch(**one).fingerprint == lunch(**other).fingerprint) == (meant(one) == meant(other))


def meant(changed: dict[str, Any]) -> dict[str, Any]:
    said = LUNCH | changed
    return said | {"amount": Decimal(said["amount"]), "occurred_at": datetime.fromisoformat(said["occurred_at"])}


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31, 23, 59, 59, 999_998)),  # noqa: DTZ001  # as it asks for
    st.integers(-14 * 60, 14 * 60),
)
@example(datetime(2099, 12, 31, 23, 59, 59, 999_998), 0)  # noqa: DTZ001  # as it asks for
@settings(deadline=None)
def test_a_microsecond_makes_another_instant_and_an_offset_does_not(at: datetime, minutes: int) -> None:
    instant = at.replace(tzinfo=UTC)
    elsewhere = instant.astimezone(timezone(timedelta(minutes=minutes)))
    fingerprints = [
        lunch(occurred_at=each.isoformat()).fingerprint
        for each in (instant, elsewhere, instant + timedelta(microseconds=1))
    ]
    assert fingerprints[0] == fingerprints[1] != fingerprints[2]


def test_an_event_is_never_taken_for_a_transaction() -> None:
    assert cancelled(**(LUNCH | {"type": CANCELLED["type"]})).fingerprint != lunch().fingerprint
