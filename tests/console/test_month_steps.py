"""The steps of a month's close: which are done, which wait and for what, as a table."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from abacus.console.decide.month_list import months_of
from abacus.console.decide.month_list import next_of as next_month
from abacus.console.decide.month_steps import (
    Ended,
    Published,
    Sealed,
    Standing,
    Step,
    Task,
    accounts_step,
    cost_step,
    expiry_step,
    files_step,
    messages_step,
    next_of,
    of_closed,
    review_step,
    seal_step,
    signature_step,
)
from abacus.console.errands.types import Errand, State
from abacus.oversight.closing.decide.record import Act, Signed
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook, Estimate
from abacus.people.types.approval import Approval, ApprovalKind, Status
from abacus.programs.expiry.decide.month import Month

MAY, JUNE = Month(2026, 5), Month(2026, 6)
OVER = datetime(2026, 7, 1, tzinfo=UTC)
LATER = datetime(2026, 7, 2, tzinfo=UTC)
ACCOUNT: Mapping[str, Any] = {
    "comes_out": True,
    "whole": True,
    "messages": 1200,
    "verdicts": {"awarded": 1199, "on_the_way": 1},
    "on_the_way": 0,
    "findings": [],
    "more_findings": 0,
}
GOOD: Mapping[str, Any] = {"may_be_signed": True, "obstacles": []}
IN_THE_WAY = {"name": "seal", "said": "no seal", "left": True}
ACCEPTED = {"name": "expiry", "said": "not run", "left": False}


def task(
    document: Any = None,
    state: State = State.DONE,
    *,
    asked: datetime = LATER,
    told: str | None = None,
    by: str = "fay",
) -> Task:
    errand = Errand(uuid4(), "x", "x", None, "abacus x", ["x", "--reason=so it is"], "{}", [], by, asked, state)
    return Task(errand._replace(ended_at=None if state.is_open else asked, told=told), document)


RUNS, FAILED = task(state=State.RUNNING), task(state=State.FAILED, told="away")


def ended(month: Month = MAY, **changed: Any) -> Ended:
    given: dict[str, Any] = {"expired": 3, "skipped": 1, "points": 900, "left": 0, "finished_at": LATER}
    return Ended("SG", month, **given | changed)


def assumed(cost: str | None) -> AssumptionBook:
    estimate = Estimate("SGD", Decimal("0.97"), None if cost is None else Decimal(cost))
    return AssumptionBook([Assumption("GRP", "SG", 1, date(2026, 1, 1), estimate, LATER, "person:jane", "a study")])


def signed(act: Act = Act.CLOSED) -> Signed:
    return Signed(JUNE, 1, act, "person:dora", LATER, "a mistake", {"a.csv": "0"}, ["expiry: not run"])


def approval(status: Status) -> Approval:
    asked = ("person:fay", LATER, status, None, None, None)
    return Approval(uuid4(), ApprovalKind.MONTH_CLOSE, "2026-06", None, "close", "{}", "0" * 64, *asked)


def signature(**given: Any) -> Step:
    usual: dict[str, Any] = {"record": [], "approval": None, "review": task(GOOD), "task": None}
    return signature_step(JUNE, **usual | given)


def seal(newest: datetime | None, *, now: datetime = LATER, made: Task | None = None) -> Step:
    sealed = Sealed(7, newest, 2, 3) if newest is not None else None
    return seal_step(sealed, made, over_at=OVER, now=now)


def review(done: Task | None, *others: Task, has_accounts: bool = True) -> Step:
    return review_step(JUNE, done, others, has_accounts=has_accounts)


@pytest.mark.parametrize(
    ("step", "standing", "says"),
    [
        (accounts_step([]), "to do", "No accounts are published yet."),
        (accounts_step([Published("all.all", "person:fay", LATER)]), "done", "all.all"),
        (cost_step(JUNE, AssumptionBook([]), None), "to do", "No cost is assumed for that day."),
        (cost_step(JUNE, assumed(None), None), "to do", "No cost is assumed for that day."),
        (cost_step(JUNE, assumed("0.008"), None), "done", "GRP/SG@1: 0.008 SGD a point"),
        (
            cost_step(
                JUNE, assumed("0.008"), task({"obstacles": [{"name": "cost", "said": "none in ID", "left": True}]})
            ),
            "in the way",
            "none in ID",
        ),
        (expiry_step(JUNE, [], [], None), "done", "Nothing lapsed with the end of 2026-05."),
        (expiry_step(JUNE, [ended()], [], None), "done", "SG: 900 points of 3 accounts lapsed with the end of 2026-05"),
        (expiry_step(JUNE, [], [("SG", MAY)], None), "to do", "SG: the end of 2026-05 has not run"),
        (
            expiry_step(JUNE, [ended(left=2, finished_at=None)], [("SG", MAY)], None),
            "to do",
            "SG: the end of 2026-05 has 2 accounts left",
        ),
        (expiry_step(JUNE, [], [("SG", MAY)], RUNS), "runs", "has not run"),
        (expiry_step(JUNE, [], [("SG", MAY)], FAILED), "to do", "away"),
        (seal(None), "to do", "No seal was made yet."),
        (seal(OVER.replace(month=6)), "to do", "older than the month's end"),
        (seal(OVER.replace(month=6), now=OVER.replace(month=6)), "waits", "older than the month's end"),
        (seal(LATER), "done", "Seal 7: 2 accounts, 3 transfers"),
        (seal(None, made=RUNS), "runs", ""),
        (messages_step(None, "", is_over=True), "to do", ""),
        (messages_step(None, "", is_over=False), "waits", ""),
        (messages_step(RUNS, "", is_over=True), "runs", ""),
        (messages_step(FAILED, "", is_over=True), "in the way", "away"),
        (messages_step(task(ACCOUNT), "", is_over=True), "done", "1,200 messages: 1,199 awarded, 1 on the way"),
        (messages_step(task({**ACCOUNT, "whole": False}), "", is_over=True), "in the way", "forgotten"),
        (
            messages_step(
                task({**ACCOUNT, "comes_out": False, "findings": [{}], "more_findings": 2}), "", is_over=True
            ),
            "in the way",
            "3 differences",
        ),
        (review(None), "to do", ""),
        (review(None, has_accounts=False), "waits", ""),
        (review(RUNS), "runs", ""),
        (review(FAILED), "in the way", "away"),
        (review(task(GOOD)), "done", "Nothing stands in the way."),
        (review(task({"may_be_signed": True, "obstacles": [ACCEPTED]})), "done", "1 accepted: so it is"),
        (review(task({"may_be_signed": False, "obstacles": [IN_THE_WAY]})), "in the way", "1 in the way"),
        (
            review(task({"may_be_signed": False, "obstacles": [IN_THE_WAY]}, asked=OVER), task()),
            "to do",
            "Something was done since: review again.",
        ),
        (signature(review=None), "waits", ""),
        (signature(review=task({"may_be_signed": False, "obstacles": []})), "waits", ""),
        (signature(), "to do", ""),
        (signature(review=task({**GOOD, "needs_approval": True})), "to do", "This house has another person sign."),
        (signature(task=RUNS), "runs", ""),
        (signature(task=FAILED), "to do", "away"),
        (signature(approval=approval(Status.PENDING)), "waits", "they wait for the signature"),
        (signature(approval=approval(Status.REJECTED)), "to do", ""),
        (signature(record=[signed()]), "done", "Accepted: expiry: not run"),
        (signature(record=[signed(), signed(Act.REOPENED)]), "to do", "Reopened: a mistake"),
        (files_step([], []), "waits", ""),
        (files_step([signed()], []), "done", "Signed: 1 file"),
    ],
)
def test_how_a_step_stands_and_what_it_found(step: Step, standing: str, says: str) -> None:
    assert step.standing == standing
    assert says in "\n".join(step.says)


@pytest.mark.parametrize(
    ("step", "waits_for"),
    [
        (seal(None, now=OVER.replace(month=6)), "the end of the month in every country"),
        (review(None, has_accounts=False), "accounts of the journal"),
        (signature(review=None), "a review that finds nothing in the way"),
        (signature(approval=approval(Status.PENDING)), "another person, who signs"),
        (signature(), None),
        (files_step([], []), "the signature"),
        (files_step([], ["journal-2026-06.csv"]), None),
    ],
)
def test_what_a_step_waits_for(step: Step, waits_for: str | None) -> None:
    assert step.waits_for == waits_for


@pytest.mark.parametrize(
    ("step", "by"),
    [
        (seal(LATER, made=task({"seal": {"number": 7}}, by="olga")), "olga"),
        (seal(LATER, made=task({"seal": {"number": 6}}, by="olga")), None),
        (expiry_step(JUNE, [ended()], [], task({}, by="olga")), "olga"),
        (review(task(GOOD)), "fay"),
        (signature(record=[signed()]), "person:dora"),
        (signature(approval=approval(Status.PENDING)), "person:fay"),
    ],
)
def test_who_did_it(step: Step, by: str | None) -> None:
    assert step.by == by


def test_the_next_step_is_the_first_that_somebody_can_do() -> None:
    steps = [seal(LATER), review(None, has_accounts=False), signature()]
    first = next_of(steps)
    assert first is not None
    assert first.name == "signature"
    assert next_of(of_closed(steps)) is None
    assert {each.standing for each in of_closed(steps)} == {Standing.DONE}


@pytest.mark.parametrize(
    ("record", "states", "to_close"),
    [
        ([], {"open": 6}, "2026-07"),
        ([signed()], {"open": 5, "closed": 1}, "2026-07"),
        ([signed(), signed(Act.REOPENED)._replace(number=2)], {"open": 5, "reopened": 1}, "2026-07"),
        ([signed()._replace(month=Month(2025, 1))], {"open": 6, "closed": 1}, "2025-02"),
    ],
)
def test_the_months_are_listed_with_what_was_done_to_them(
    record: list[Signed], states: dict[str, int], to_close: str
) -> None:
    lines = months_of(record, Month(2026, 7))
    assert Counter(each.state for each in lines) == states
    assert lines[0].month == "2026-07"
    assert str(next_month(record, Month(2026, 7))) == to_close
