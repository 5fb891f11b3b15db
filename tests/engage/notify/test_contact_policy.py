"""Contact policies: documents read with every fault, and who is in a holdout."""

from typing import Any, Final

import pytest

from abacus.core.fields import DocumentFaults
from abacus.engage.notify.decide.contact_document import described, parse_policy, to_document
from abacus.engage.notify.decide.contact_policy import is_held_out

WHOLE: Final[dict[str, Any]] = {
    "country": "SG",
    "timezone": "Asia/Singapore",
    "quiet_hours": "21:00-08:00",
    "holdout": 5,
    "patience_days": 2,
    "caps": {"sns": {"marketing": "3 a day, 10 a week", "earned": "5 a day"}, "webhook": {"marketing": "4 a week"}},
}


def test_a_policy_is_written_as_it_was_read() -> None:
    policy = parse_policy(WHOLE)
    assert to_document(policy) == WHOLE
    assert dict(described(policy)) == {
        "country": "SG",
        "timezone": "Asia/Singapore",
        "quiet_hours": "21:00-08:00",
        "holdout": "5 % of members",
        "patience_days": "2 day(s)",
        "caps.sns.marketing": "3 a day, 10 a week",
        "caps.sns.earned": "5 a day",
        "caps.webhook.marketing": "4 a week",
    }


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        ({"country": "sg"}, "country", "is not a country"),
        ({"timezone": "Asia/Singapur"}, "timezone", "did you mean Asia/Singapore?"),
        ({"quiet_hours": "21:00"}, "quiet_hours", "two clock times"),
        ({"quiet_hours": "21:00-21:00"}, "quiet_hours", "leaves no time at all"),
        ({"quiet_hours": "21:00-25:00"}, "quiet_hours", "is not an hour of the day"),
        ({"holdout": 51}, "holdout", "is not between 1 and 50"),
        ({"patience_days": 8}, "patience_days", "is not between 0 and 7"),
        ({"caps": {"pigeon": {"marketing": "1 a day"}}}, "caps.pigeon", "is not a channel"),
        ({"caps": {"sns": {"gossip": "1 a day"}}}, "caps.sns.gossip", "is not a kind of messages"),
        ({"caps": {"sns": {"marketing": "often"}}}, "caps.sns.marketing", "is not a cap"),
        ({"caps": {"sns": {"marketing": ""}}}, "caps.sns.marketing", "is not a cap"),
        ({"caps": {"sns": {"marketing": "0 a day"}}}, "caps.sns.marketing", "is not a cap"),
        ({"caps": {"sns": {"marketing": "3 a day 10 a week"}}}, "caps.sns.marketing", "is not a cap"),
        ({"caps": {"sns": {"marketing": "9 a day, 3 a week"}}}, "caps.sns.marketing", "more a week than a day"),
        ({"cap": {}}, "cap", "did you mean caps?"),
    ],
)
def test_a_fault_is_told_with_its_path(change: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(DocumentFaults) as found:
        parse_policy({**WHOLE, **change})
    assert [(each.path, message in each.message) for each in found.value.faults] == [(path, True)]


def test_patience_is_for_caps() -> None:
    with pytest.raises(DocumentFaults, match="there is no cap"):
        parse_policy({"country": "SG", "timezone": "UTC", "patience_days": 1})


def test_a_holdout_has_its_share_and_a_larger_one_keeps_everybody() -> None:
    members = [f"m-{number}" for number in range(20_000)]
    small = {each for each in members if is_held_out("SG", each, 5)}
    assert 850 < len(small) < 1150
    assert small < {each for each in members if is_held_out("SG", each, 10)}
    assert small != {each for each in members if is_held_out("ID", each, 5)}
    assert not any(is_held_out("SG", each, 0) for each in members)
