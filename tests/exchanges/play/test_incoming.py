"""Both houses at play where points come in, by every order of messages: doubled, late and lost.

The partner holds, and either side is killed between what it writes and what it sends: its rows stay.
"""

from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from abacus.exchanges.decide.contract import Answer
from abacus.exchanges.decide.exchange import State, award_key
from abacus.exchanges.partner_sim.inbound import Sent, question_of
from tests.exchanges.play.drawing import drawn, often, playing, seldom, which
from tests.exchanges.play.giver import GiverAtPlay
from tests.exchanges.play.taker import TakerAtPlay
from tests.support.exchanged import skymiles

START: Final = datetime(2026, 1, 10, 12, tzinfo=UTC)
MOST: Final = 3  # exchanges at a time, so that their messages meet
_GIVING: Final = skymiles(partner="giver", ends_at=START + timedelta(days=9_000))
_WAITS: Final = (timedelta(minutes=1), timedelta(hours=20), timedelta(days=2))  # beyond which a reservation is over
_KEPT: Final = frozenset({State.COMMITTED, State.AWARDED})


class ComingIn(RuleBasedStateMachine):
    """A partner's members send points to one house."""

    def __init__(self) -> None:
        super().__init__()
        self.house, self.giver = TakerAtPlay(START, _GIVING), GiverAtPlay()
        self.questions: list[Sent] = []  # each is about a row as it was read
        self.answers: list[tuple[Sent, Answer]] = []
        self.committed: set[UUID] = set()  # ever

    def teardown(self) -> None:
        try:
            self.everything_arrives()
        finally:
            self.giver.close()

    @precondition(lambda self: len(self.giver.unsettled()) < MOST)
    @rule(points=st.sampled_from([100, 150, 400, 101]))
    def send(self, points: int) -> None:
        """101 points are no step of the programme's."""
        self.giver.send(f"T-{len(self.giver.sent())}", points, self.house.now)

    @precondition(lambda self: self.giver.unsettled())
    @rule(n=which, is_on_its_way=seldom)
    def ask(self, n: int, *, is_on_its_way: bool) -> None:
        """What is not on its way for long is answered at once."""
        sent = drawn(self.giver.unsettled(), n)
        if is_on_its_way:
            self.questions.append(sent)
        else:
            self._hear(sent, self.house.answer(question_of(sent)))

    @precondition(lambda self: self.questions)
    @rule(n=which, twice=seldom, is_answered=often)
    def deliver(self, n: int, *, twice: bool, is_answered: bool) -> None:
        """The house may die between its row and its answer."""
        sent = drawn(self.questions, n, keep=twice)
        answer = self.house.answer(question_of(sent))
        if is_answered:
            self.answers.append((sent, answer))

    @precondition(lambda self: self.answers)
    @rule(n=which, twice=seldom)
    def hear(self, n: int, *, twice: bool) -> None:
        self._hear(*drawn(self.answers, n, keep=twice))

    @precondition(lambda self: self.questions or self.answers)
    @rule(n=which)
    def lose(self, n: int) -> None:
        if self.answers:
            drawn(self.answers, n)
        else:
            drawn(self.questions, n)

    @precondition(lambda self: self.answers)
    @rule(n=which, status=st.sampled_from([400, 404, 429, 503]))
    def hear_of_a_fault(self, n: int, status: int) -> None:
        """Something between both answers in place of the house, which may have done what it was asked for."""
        sent, _ = drawn(self.answers, n)
        self._hear(sent, Answer(status, "text/plain", b"oops"))

    @precondition(lambda self: self.giver.unsettled())
    @rule(n=which)
    def call_off(self, n: int) -> None:
        self.giver.call_off(drawn(self.giver.unsettled(), n).id, self.house.now)

    @precondition(lambda self: self.house.due())
    @rule(n=which)
    def carry(self, n: int) -> None:
        self.house.carry(drawn(self.house.due(), n))

    @precondition(lambda self: self.house.awards)
    @rule(n=which, twice=seldom)
    def award(self, n: int, *, twice: bool) -> None:
        self.house.post(drawn(self.house.awards, n, keep=twice))

    @precondition(lambda self: self.house.rows)
    @rule(by=st.sampled_from(_WAITS))
    def wait(self, by: timedelta) -> None:
        self.house.now += by

    @invariant()
    def no_point_is_in_two_houses(self) -> None:
        for id_, sent in self.giver.sent().items():
            row, key = self.house.row(id_), award_key("giver", id_)
            state = None if row is None else row.state
            if sent.state == "captured" or key in self.house.posted:
                assert state in _KEPT
            if sent.state == "released":
                assert state is State.DROPPED
            assert state is not State.AWARDED or key in self.house.posted

    @invariant()
    def what_was_committed_is_never_dropped(self) -> None:
        self.committed |= {id_ for id_, row in self.house.rows.items() if row.state in _KEPT}
        assert {self.house.rows[id_].state for id_ in self.committed} <= _KEPT

    @invariant()
    def what_is_held_there_is_what_has_not_ended(self) -> None:
        sent = self.giver.sent().values()
        gone = sum(each.points for each in sent if each.state == "captured")
        held = sum(each.points for each in self.giver.unsettled())
        assert self.giver.account() == (sum(each.points for each in sent) - gone, held)

    def everything_arrives(self) -> None:
        """Two points of theirs are three of ours."""
        while self.giver.unsettled() or self.questions or self.answers or self.house.awards or self._committed():
            self.questions += self.giver.unsettled()
            self.answers += [(sent, self.house.answer(question_of(sent))) for sent in self.questions]
            self.questions.clear()
            while self.answers:
                self._hear(*self.answers.pop())
            while self.house.awards:
                self.house.post(self.house.awards.pop())
            for id_ in self._committed():
                self.house.carry(id_)
            self.house.now += timedelta(hours=1)
        sent = self.giver.sent()
        gone = {award_key("giver", id_): each.points for id_, each in sent.items() if each.state == "captured"}
        assert {key: 2 * points for key, points in self.house.posted.items()} == {
            key: 3 * points for key, points in gone.items()
        }
        assert {row.state for id_ in sent if (row := self.house.row(id_))} <= {State.AWARDED, State.DROPPED}

    def _hear(self, sent: Sent, answer: Answer) -> None:
        self.giver.settle(sent, answer, self.house.now)

    def _committed(self) -> list[UUID]:
        return [id_ for id_ in self.house.due() if self.house.rows[id_].state is State.COMMITTED]


@pytest.mark.long
@pytest.mark.timeout(600)
def test_no_order_of_messages_brings_a_point_that_comes_in_into_two_houses_or_none() -> None:
    run_state_machine_as_test(ComingIn, settings=playing(by_day=300, by_night=1000))
