"""An outage as people are told it: one alarm a cause, since when, and that it is over."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from abacus.console.decide.alarms import alarms_of, followed
from abacus.core.status import Cause, Problem
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import ProcessNote, Report, WorkerNote
from tests.console.desk import desk

NOW = datetime(2026, 7, 3, 14, 30, tzinfo=UTC)
AWAY = Problem("no process runs the worker awarder", "start one", Cause.WORKER_AWAY, "awarder")
LATE = [Problem(f"expiry run of {each}", "run it", Cause.OVERDUE, "expiry run") for each in ("SG", "TH", "VN")]


def test_faults_of_one_cause_are_one_alarm() -> None:
    [late, away] = alarms_of([*LATE, AWAY])
    assert (late.what, len(late.details), late.commands) == ("Overdue: expiry run", 3, ["run it"])
    assert "members do not see them yet" in away.means


@pytest.mark.parametrize("cause", Cause)
def test_every_cause_has_its_words(cause: Cause) -> None:
    [alarm] = alarms_of([Problem("fault", "remedy", cause, "thing")])
    assert alarm.what
    assert alarm.means.endswith(".")
    assert bool(alarm.place) == bool(alarm.there)


@pytest.mark.parametrize(
    ("unread", "after", "over"),
    [
        (set[str](), timedelta(minutes=5), [True]),
        ({"worker-away"}, timedelta(minutes=5), [False]),
    ],
)
def test_what_is_gone_is_over_if_it_was_looked_for(unread: set[str], after: timedelta, over: list[bool]) -> None:
    wrong = followed([], alarms_of([AWAY]), set(), NOW)
    assert [each.since for each in wrong] == [NOW]
    gone = followed(wrong, [], unread, NOW + after)
    assert [each.over_at is not None for each in gone] == over
    late = NOW + timedelta(hours=3)
    assert [each.over_at for each in followed(gone, [], set[str](), late)] == ([] if over == [True] else [late])
    back = followed(gone, alarms_of([AWAY]), set(), NOW + timedelta(minutes=9))
    assert [each.since for each in back] == [NOW + timedelta(minutes=9) if over == [True] else NOW]


async def test_an_outage_from_alarm_to_all_clear(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        wrong = (await ann.see("/operations")).text
        assert "The awarder does not run" in wrong
        assert "All clear" not in wrong
        open_desk.clock.pass_(minutes=2)
        now = open_desk.clock.now()
        report = Report({each: WorkerNote("ready", "") for each in ("calculator", "awarder")}, {}, {}, None)
        await Presence(pool, open_desk.clock).note(ProcessNote(uuid4(), "host", 7, "0.1.0", now, now, report.text))
        told = (await ann.twin("/operations")).json()["alarms"]
        assert {each["about"]: each["over_at"] is not None for each in told} == {"awarder": True, "calculator": True}
        clear = (await ann.see("/operations")).text
        assert "All clear since" in clear
        assert "Over by now" in clear
