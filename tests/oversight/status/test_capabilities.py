"""The lines of each capability in the state of things."""

from datetime import UTC, datetime, timedelta

import pytest

from abacus.core.status import Undelivered
from abacus.engage.notify.status import told_of as notifications_told
from abacus.intake.partners.webhooks.status import told_of as webhooks_told
from abacus.oversight.status.capabilities import figures_of
from abacus.oversight.status.wiring import groups_of
from abacus.platform.delivery.types import Backlog
from abacus.platform.settings import Settings

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATE = NOW - timedelta(hours=25)


@pytest.mark.parametrize(
    ("left", "told", "fault"),
    [
        (notifications_told(0), "0 parked", None),
        (notifications_told(2), "2 parked", "2 notifications are parked"),
        (webhooks_told(Backlog(0, None), NOW), "0 messages wait", None),
        (webhooks_told(Backlog(7, NOW - timedelta(hours=23)), NOW), "7 messages wait", None),
        (
            webhooks_told(Backlog(3, LATE), NOW),
            "3 messages wait",
            "3 webhook messages wait, the oldest since 2026-11-21 11:00:00 UTC",
        ),
    ],
)
def test_what_is_not_delivered(left: Undelivered, told: str, fault: str | None) -> None:
    assert (left.told, left.problem and left.problem.fault) == (told, fault)
    assert left.problem is None or left.problem.remedy


def test_the_figures_of_all_kinds_stand_together() -> None:
    both = [notifications_told(1), webhooks_told(Backlog(3, LATE), NOW)]
    assert figures_of(both) == {"parked": 1, "webhooks": 3, "oldest_webhook_at": LATE}


def test_the_groups_are_told_in_one_order() -> None:
    assert [(each.topic, each.name, each.worker) for each in groups_of(Settings(queue_prefix="t-"))] == [
        ("abacus.transactions.v1", "t-calculator", "calculator"),
        ("abacus.points.v1", "t-tierkeeper", "tierkeeper"),
        ("abacus.points.v1", "t-webhooks", "webhooks"),
        ("abacus.points.v1", "t-notifier", "notifier"),
        ("abacus.tiers.v1", "t-notifier-tiers", "notifier"),
    ]
