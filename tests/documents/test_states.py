"""The states of a version: a table of every act in every state."""

from datetime import datetime

import pytest

from abacus.documents.decide.states import Act, State, Status, WrongState, check_step, may_follow, state_at
from tests.support.campaigns import DAY, NOW, campaign

BEFORE = campaign().starts_at - DAY
AFTER = campaign().ends_at

LEADS: dict[tuple[Status, Act], Status] = {
    (Status.DRAFT, Act.SUBMIT): Status.SUBMITTED,
    (Status.DRAFT, Act.END): Status.ENDED,
    (Status.DRAFT, Act.REPLACE): Status.ENDED,
    (Status.SUBMITTED, Act.SUBMIT): Status.SUBMITTED,
    (Status.SUBMITTED, Act.WITHDRAW): Status.DRAFT,
    (Status.SUBMITTED, Act.APPROVE): Status.APPROVED,
    (Status.SUBMITTED, Act.REPLACE): Status.ENDED,
    (Status.APPROVED, Act.PAUSE): Status.PAUSED,
    (Status.APPROVED, Act.EXHAUST): Status.EXHAUSTED,
    (Status.APPROVED, Act.END): Status.ENDED,
    (Status.APPROVED, Act.REPLACE): Status.ENDED,
    (Status.PAUSED, Act.RESUME): Status.APPROVED,
    (Status.PAUSED, Act.END): Status.ENDED,
    (Status.PAUSED, Act.REPLACE): Status.ENDED,
    (Status.EXHAUSTED, Act.END): Status.ENDED,
    (Status.EXHAUSTED, Act.REPLACE): Status.ENDED,
}


@pytest.mark.parametrize("act", Act)
@pytest.mark.parametrize("status", Status)
def test_where_each_act_leads(status: Status, act: Act) -> None:
    then = LEADS.get((status, act))
    assert may_follow(status, act) is (then is not None)
    if then is None:
        with pytest.raises(WrongState, match=f"third_order@0 is {state_at(campaign(), status, NOW)}, so it cannot be"):
            check_step(campaign(), status, act, NOW)
    else:
        assert check_step(campaign(), status, act, NOW) is then


def test_only_what_a_second_person_approves_is_ever_in_force() -> None:
    """From a draft nothing leads to a state in force but through the approval."""
    reached, before = {Status.DRAFT}, set[Status]()
    while reached != before:
        before = set(reached)
        reached |= {then for (status, act), then in LEADS.items() if status in reached and act is not Act.APPROVE}
    assert reached == {Status.DRAFT, Status.SUBMITTED, Status.ENDED}


@pytest.mark.parametrize("act", [Act.PAUSE, Act.RESUME, Act.EXHAUST, Act.END])
def test_what_is_over_by_the_clock_stays_so(act: Act) -> None:
    for status in (Status.APPROVED, Status.PAUSED):
        with pytest.raises(WrongState, match="third_order@0 is ended, so it cannot be"):
            check_step(campaign(), status, act, AFTER)
    assert check_step(campaign(), Status.APPROVED, Act.REPLACE, AFTER) is Status.ENDED


@pytest.mark.parametrize(
    ("status", "now", "state"),
    [
        (Status.DRAFT, NOW, State.DRAFT),
        (Status.DRAFT, AFTER, State.DRAFT),
        (Status.SUBMITTED, NOW, State.SUBMITTED),
        (Status.APPROVED, BEFORE, State.SCHEDULED),
        (Status.APPROVED, campaign().starts_at, State.RUNNING),
        (Status.APPROVED, NOW, State.RUNNING),
        (Status.APPROVED, AFTER, State.ENDED),
        (Status.PAUSED, BEFORE, State.PAUSED),
        (Status.PAUSED, AFTER, State.ENDED),
        (Status.EXHAUSTED, AFTER, State.EXHAUSTED),
        (Status.ENDED, NOW, State.ENDED),
    ],
)
def test_the_state_at_a_moment(status: Status, now: datetime, state: State) -> None:
    assert state_at(campaign(), status, now) is state
