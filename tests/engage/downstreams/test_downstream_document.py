"""Documents of downstreams: what they say, and every fault of those that say it wrongly."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from abacus.core.fields import DocumentFaults
from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.engage.downstreams.decide.downstream_document import (
    changes,
    faults_after,
    parse_downstream,
    restore_downstream,
    to_document,
)

COUPONS = {"name": "coupons", "kind": "webhook", "url": "https://coupons.example/hook"}
RISK = {"name": "risk", "kind": "external", "url": "https://risk.example", "type": "decimal", "otherwise": "wait"}
AWARDS = {"name": "awards", "kind": "own", "pace": "500/s@8-20, 50/s", "zone": "Asia/Singapore"}


def parsed(document: dict[str, Any], **changed: Any) -> Downstream:
    fields = {name: value for name, value in {**document, **changed}.items() if value is not None}
    return parse_downstream(fields, to_private=False)


@pytest.mark.parametrize(
    ("document", "paced_as"),
    [
        (COUPONS, "host:coupons.example"),
        (RISK, "external:risk"),
        ({**RISK, "timeout": "800ms", "at_once": 20, "pace": "10/s"}, "external:risk"),
        (AWARDS, "awards"),
    ],
)
def test_what_is_written_is_read_again(document: dict[str, Any], paced_as: str) -> None:
    read = parsed(document)
    assert read.paced_as == paced_as
    assert document.items() <= to_document(read).items()
    assert restore_downstream(to_document(read), 3, retired=False) == read.published(3)


def test_the_pace_is_that_of_the_hour_there() -> None:
    pace = parsed(AWARDS).pace
    assert pace is not None
    assert pace.step(datetime(2026, 11, 23, 1, tzinfo=UTC)) == timedelta(milliseconds=2)  # nine o'clock
    assert pace.step(datetime(2026, 11, 23, 13, tzinfo=UTC)) == timedelta(milliseconds=20)


@pytest.mark.parametrize(
    ("document", "changed", "fault"),
    [
        (COUPONS, {"name": None}, "name: missing"),
        (COUPONS, {"name": "Coupons"}, "name: 'Coupons' is not a name"),
        (COUPONS, {"name": "awards"}, "name: awards is one of our own"),
        (COUPONS, {"kind": "queue"}, "kind: 'queue' is not a kind of downstreams; write one of webhook, external, own"),
        (COUPONS, {"url": None}, "url: missing"),
        (COUPONS, {"url": "http://coupons.example"}, "url: 'http://coupons.example'"),
        (COUPONS, {"url": "https://10.0.0.1/"}, "10.0.0.1 is not an address of the public internet"),
        (COUPONS, {"type": "text"}, "type: unknown"),
        (COUPONS, {"zone": "Asia/Singapore"}, "zone: there is no pace"),
        (COUPONS, {"pace": "5/s", "zone": "Asia/Singapur"}, "zone: 'Asia/Singapur' is not a time zone"),
        (COUPONS, {"pace": "fast"}, "pace: 'fast': 'fast' is not a number / s, m or h"),
        (COUPONS, {"pace": "5/s@8-20"}, "pace: nothing is said of 0:00"),
        (COUPONS, {"pace": "200000/s"}, "pace: '200000/s': at most 100,000"),
        (RISK, {"type": None}, "type: missing"),
        (RISK, {"type": "float"}, "type: 'float' is not a type of values"),
        (RISK, {"otherwise": None}, "otherwise: missing"),
        (RISK, {"otherwise": "true"}, "otherwise: 'true' is not a policy; write one of false, wait"),
        (RISK, {"timeout": "20s"}, "timeout: '20s' is not a time from 10ms to 10s"),
        (RISK, {"timeout": "1m"}, "timeout: '1m' is not a time"),
        (RISK, {"at_once": 0}, "at_once: 0 is not between 1 and 1000"),
        (AWARDS, {"name": "letters"}, "name: 'letters' is none of our own"),
        (AWARDS, {"pace": None, "zone": None}, "pace: missing"),
        (AWARDS, {"url": "https://awards.example"}, "url: unknown"),
    ],
)
def test_a_fault_is_told_with_its_path(document: dict[str, Any], changed: dict[str, Any], fault: str) -> None:
    with pytest.raises(DocumentFaults) as caught:
        parsed(document, **changed)
    assert fault in str(caught.value)


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(DocumentFaults) as caught:
        parsed(RISK, type="float", otherwise="perhaps", url="ftp://risk", color="red")
    assert [fault.path for fault in caught.value.faults] == ["url", "type", "otherwise", "color"]


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        (COUPONS, {**COUPONS, "url": "https://other.example"}, None),
        (RISK, {**RISK, "otherwise": "false"}, None),
        (RISK, {**RISK, "type": "integer"}, "risk@1 answers with decimal, and that never changes"),
        (RISK, {**COUPONS, "name": "risk"}, "risk@1 is of the kind external, and that never changes"),
    ],
)
def test_what_campaigns_were_read_by_never_changes(
    before: dict[str, Any], after: dict[str, Any], fault: str | None
) -> None:
    faults = [each.message for each in faults_after(parsed(before).published(1), parsed(after))]
    assert [each.split(";")[0] for each in faults] == ([fault] if fault else [])


def test_changes_are_told_in_words() -> None:
    was = parsed(COUPONS).published(1)
    assert changes(was, parsed(COUPONS)) == []
    assert changes(was, parsed(COUPONS, pace="5/s")) == ["pace: nothing → 5/s", "zone: nothing → UTC"]
    assert changes(None, parsed(COUPONS))[0] == "first version of coupons"
