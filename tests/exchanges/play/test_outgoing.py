"""Both houses at play where points go out, by every order of messages: delivered, doubled, late and lost.

Either side is killed between what it writes and what it sends: its rows stay. After each step the points are in one
house, and once everything has arrived each exchange has ended, and both books tie by the ratio.
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from abacus.exchanges.decide.contract import told_by
from abacus.exchanges.decide.exchange import ENDED, State
from abacus.exchanges.decide.heard import Credited, Heard, Silence
from abacus.exchanges.decide.invented_accounts import CLOSED
from abacus.exchanges.decide.matching import BreakKind, Ours, judge
from abacus.exchanges.decide.programme import ByFile, ByHttp
from abacus.exchanges.decide.turn import Reason, Verdict, approved, called_off, declined, reversing, settled
from tests.exchanges.play.drawing import drawn, often, playing, seldom, which
from tests.exchanges.play.house import HouseAtPlay, Question
from tests.exchanges.play.partner import OPEN, Manners, PartnerAtPlay
from tests.support.exchanged import skymiles

START: Final = datetime(2026, 1, 10, 12, tzinfo=UTC)
DAY: Final = timedelta(days=1)
MOST: Final = 3  # exchanges at a time, so that their messages meet
ROUNDS: Final = 12  # days in which whatever was begun comes to its end
_ENDS: Final = START + 9_000 * DAY
_WAITS: Final = (timedelta(seconds=1), timedelta(minutes=2), timedelta(hours=2), DAY, 4 * DAY, 31 * DAY)
_URL: Final = "https://partner.example"

MANNERS: Final = (
    Manners(skymiles(name="plain", ends_at=_ENDS, review_above=1000)),
    Manners(skymiles(name="forgetful", ends_at=_ENDS, carrier=ByHttp(_URL, remembers_refusals=False)), remembers=False),
    Manners(skymiles(name="keeping", ends_at=_ENDS), takes_back=False),
    Manners(skymiles(name="filed", ends_at=_ENDS, carrier=ByFile("folder", START.time()))),
    Manners(skymiles(name="lying", ends_at=_ENDS), buries=False),  # it tells of tombstones, and writes none
)

slow = st.sampled_from([None, None, None, 60, 90_000])


class Deed(StrEnum):
    """What is asked of an exchange, or decided."""

    CALL_OFF = "call-off"
    REVERSE = "reverse"
    APPROVE = "approve"
    DECLINE = "decline"
    UNLINK = "unlink"
    CREDITED = "credited"
    ASK = "ask"
    CANCEL = "cancel"


_DEEDS: Final = {
    State.ASIDE: (Deed.CANCEL, Deed.ASK, Deed.CREDITED),
    State.CAPTURED: (Deed.REVERSE,),
    State.UNKNOWN: (Deed.UNLINK,),
    State.SENT: (Deed.UNLINK,),
    State.REVIEW: (Deed.APPROVE, Deed.DECLINE, Deed.CALL_OFF),
    State.HELD: (Deed.UNLINK, Deed.CALL_OFF),
}


class Sending(StrEnum):
    """What the house does with a question."""

    ON_ITS_WAY = "on-its-way"
    IS_ANSWERED = "is-answered"  # at once
    IS_TOLD_OF_MORE = "is-told-of-more"  # by a mile than was credited
    WAITS_IN_VAIN = "waits-in-vain"  # it is still on its way
    DIES = "dies"


class Fate(StrEnum):
    """What becomes of a message."""

    ARRIVES = "arrives"
    TWICE = "twice"
    LOST = "lost"
    UNANSWERED = "unanswered"


class GoingOut(RuleBasedStateMachine):
    """Exchanges with partners of every kind, side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.house = HouseAtPlay(START, [each.programme for each in MANNERS])
        self.partners = {each.programme.name: PartnerAtPlay(each) for each in MANNERS}
        self.questions: list[Question] = []
        self.answers: list[tuple[int, Heard]] = []

    def teardown(self) -> None:
        try:
            self.everything_arrives()
        finally:
            for each in self.partners.values():
                each.close()

    # --- what is asked for ---

    @precondition(lambda self: self._open() < MOST)
    @rule(
        name=st.sampled_from(sorted(each.programme.name for each in MANNERS)),
        steps=st.integers(1, 3),
        is_open=often,
    )
    def exchange(self, name: str, steps: int, *, is_open: bool) -> None:
        self.house.exchange(self.house.programmes[name], 500 * steps, OPEN if is_open else CLOSED)

    @precondition(lambda self: self._decisions())
    @rule(n=which, dies=seldom)
    def decide(self, n: int, *, dies: bool) -> None:
        """Somebody asks for it, or a person decides; the house may die before it moves the points."""
        self._decide(*drawn(self._decisions(), n), dies=dies)

    # --- messages ---

    @precondition(lambda self: self.house.due)
    @rule(n=which, sending=st.sampled_from(Sending), slow_s=slow)
    def carry(self, n: int, sending: Sending, slow_s: int | None) -> None:
        """What is due is begun; the house may die between its row and its question."""
        question = self.house.carry(drawn(self.house.due, n))
        if sending is Sending.DIES:
            self.house.is_killed()
        elif question is not None and sending is Sending.IS_ANSWERED:
            self.house.hear(question.n, self._asked(question, slow_s=slow_s))
        elif question is not None and sending is Sending.IS_TOLD_OF_MORE:
            self.house.hear(question.n, _more(self._asked(question)))
        elif question is not None:
            self.questions.append(question)
            if sending is Sending.WAITS_IN_VAIN:
                self.house.hear(question.n, Silence("no answer"))

    @precondition(lambda self: self.questions)
    @rule(n=which, fate=st.sampled_from(Fate), slow_s=slow)
    def deliver(self, n: int, fate: Fate, slow_s: int | None) -> None:
        """A question; the partner may die between its row and its answer."""
        asked = drawn(self.questions, n, keep=fate is Fate.TWICE)
        if fate is not Fate.LOST:
            heard = self._asked(asked, slow_s=slow_s)
            if fate is not Fate.UNANSWERED:
                self.answers.append((asked.n, heard))

    @precondition(lambda self: self.answers)
    @rule(n=which, fate=st.sampled_from(Fate))
    def hear(self, n: int, fate: Fate) -> None:
        """An answer; the ledger may be away."""
        number, heard = drawn(self.answers, n, keep=fate is Fate.TWICE)
        if fate is not Fate.LOST:
            self.house.hear(number, heard, ledger_is_away=fate is Fate.UNANSWERED)

    @precondition(lambda self: self._known_there())
    @rule(n=which, takes_back=seldom)
    def tell(self, n: int, *, takes_back: bool) -> None:
        """The partner tells where an exchange stands; it may take it back before, for which nobody has asked."""
        id_ = drawn(self._known_there(), n)
        if takes_back and not self._is_by_files(id_):
            self._partner(id_).take_back(id_, self.house.now)
        self._tell_again(id_)

    @precondition(lambda self: self._callbacks())
    @rule(n=which, twice=seldom)
    def call_back(self, n: int, *, twice: bool) -> None:
        self._told(*drawn(self._callbacks(), n), twice=twice)

    @precondition(lambda self: self.house.rows and not self.house.due)
    @rule(by=st.sampled_from(_WAITS))
    def wait(self, by: timedelta) -> None:
        self.house.now += by
        for each in self.partners.values():
            each.decide(self.house.now)

    # --- files ---

    @precondition(lambda self: self.house.has_orders or self.house.files)
    @rule(n=which, is_new=st.booleans(), is_refused=seldom, is_read=often)
    def carry_a_file(self, n: int, *, is_new: bool, is_refused: bool, is_read: bool) -> None:
        """It is answered as often as it comes, and in whatever order."""
        if self.house.has_orders and (is_new or not self.house.files):
            self.house.make_file()
        file = drawn(self.house.files, n, keep=True)
        if is_refused:
            self.house.refuse(file)
        if not file.is_refused:
            file.results = self.partners["filed"].answer_file(file.name, file.text, self.house.now)
        if is_read:
            self.house.read_results(file)

    # --- what always holds ---

    @invariant()
    def what_was_asked_for_is_held_captured_or_released(self) -> None:
        points = self.house.points
        for id_, asked in points.asked.items():
            places = points.held[id_], points.captured[id_], points.released[id_]
            assert sorted(places) == [0, 0, asked]
            assert points.given_back[id_] in {0, points.captured[id_]}

    @invariant()
    def no_point_is_in_two_houses(self) -> None:
        """But for a partner that credits behind its tombstone."""
        points = self.house.points
        for id_ in points.asked:
            partner, row = self._partner(id_), self.house.rows[id_]
            there, is_kept = partner.state_of(id_), partner.manners.buries
            assert partner.credits_of(id_) <= 1
            if points.released[id_]:
                assert not is_kept or there not in {"credited", "reversed"}
            if points.captured[id_]:
                assert there in ({"reversed"} if points.given_back[id_] else {"credited", "reversed"})
            assert row.reason != Reason.HOLD_LOST or not is_kept
            match row.state:
                case State.CAPTURED | State.REVERSING | State.TAKEN_BACK:
                    assert points.captured[id_]
                    assert not points.given_back[id_]
                case State.REVERSED:
                    assert points.given_back[id_]
                case State.RELEASED:
                    assert points.released[id_]

    # --- at the end ---

    def everything_arrives(self) -> None:
        """For as many days as it takes, and one more: what is late may still be told."""
        for _ in range(ROUNDS):
            is_last = self._is_quiet()
            self._all_messages()
            self._all_files()
            self.house.now += DAY
            if is_last:
                break
        for id_ in self.house.points.asked:
            self._check_ended(id_)
        self._check_books()

    def _is_quiet(self) -> bool:
        rows = self.house.rows.values()
        return all(each.state in ENDED or (each.state, each.reason) == (State.ASIDE, Reason.HOLD_LOST) for each in rows)

    def _all_messages(self) -> None:
        while self.questions:
            asked = self.questions.pop()
            self.answers.append((asked.n, self._asked(asked)))
        while self.answers:
            self.house.hear(*self.answers.pop())
        for id_ in self.house.points.asked:
            self._to_its_end(id_)
        for each in self.partners.values():
            each.decide(self.house.now)
        for partner, callback in self._callbacks():
            self._told(partner, callback)

    def _to_its_end(self, id_: UUID) -> None:
        self._tell_again(id_)
        state, there = self.house.rows[id_].state, self._partner(id_).state_of(id_)
        if state is State.REVIEW:
            self._decide(id_, Deed.APPROVE)
        if state is State.ASIDE:
            self._decide(id_, Deed.CREDITED if there in {"credited", "reversed"} else Deed.CANCEL)
        if (question := self.house.carry(id_)) is not None:
            self.house.hear(question.n, self._asked(question))

    def _all_files(self) -> None:
        if self.house.has_orders:
            self.house.make_file()
        for file in self.house.files:
            if not file.is_answered:
                file.results = self.partners["filed"].answer_file(file.name, file.text, self.house.now)
                self.house.read_results(file)

    def _check_ended(self, id_: UUID) -> None:
        """And a credit of what was released is told, and is a break; nothing else is."""
        row, partner = self.house.rows[id_], self._partner(id_)
        is_break = self.house.points.released[id_] > 0 and partner.state_of(id_) == "credited"
        found = [judge(Ours(id_, row.state, row.theirs), line) for line in partner.lines() if line.id == str(id_)]
        if (row.state, row.reason) == (State.ASIDE, Reason.HOLD_LOST):
            assert is_break  # which a person knows of
        elif is_break:
            assert (row.state, row.reason) == (State.RELEASED, Reason.CREDITED_AFTER_CANCEL)
            assert [each and each.kind for each in found] == [BreakKind.RELEASED]
        else:
            assert row.state in ENDED
            assert not any(found)

    def _check_books(self) -> None:
        """Both houses tell the same, by the ratio: five points buy two miles."""
        points = self.house.points
        for name, partner in self.partners.items():
            ours = [id_ for id_ in points.asked if self.house.rows[id_].programme == name]
            spent = sum(points.captured[id_] - points.given_back[id_] for id_ in ours)
            broken = sum(points.released[id_] for id_ in ours if partner.state_of(id_) == "credited")
            assert 5 * (partner.balance(OPEN) + partner.balance(CLOSED)) == 2 * (spent + broken)

    def _decisions(self) -> list[tuple[UUID, Deed]]:
        """What may be asked for or decided now. A person says that it was credited where it was."""
        return [
            (id_, deed)
            for state, deeds in _DEEDS.items()
            for deed in deeds
            for id_, row in self.house.rows.items()
            if row.state is state
            and (deed is not Deed.CREDITED or self._partner(id_).state_of(id_) == "credited")
            and (deed is not Deed.UNLINK or not self._is_by_files(id_))
            and id_ not in self.house.unlinked
        ]

    def _decide(self, id_: UUID, deed: Deed, *, dies: bool = False) -> None:
        now, programme = self.house.now, self._partner(id_).manners.programme
        match deed:
            case Deed.CALL_OFF:
                self.house.decide(id_, lambda each: called_off(each, now), dies=dies)
            case Deed.REVERSE:
                self.house.decide(id_, lambda each: reversing(each, now, programme))
            case Deed.APPROVE:
                self.house.decide(id_, lambda each: approved(each, now, "ann"))
            case Deed.DECLINE:
                self.house.decide(id_, lambda each: declined(each, now, "too much"), dies=dies)
            case Deed.UNLINK:
                self.house.unlinked.add(id_)
            case Deed.CREDITED | Deed.ASK | Deed.CANCEL:
                self.house.decide(id_, lambda each: settled(each, Verdict(deed.value), now, "by telephone"), dies=dies)

    def _partner(self, id_: UUID) -> PartnerAtPlay:
        return self.partners[self.house.rows[id_].programme]

    def _open(self) -> int:
        return sum(each.ended_at is None for each in self.house.rows.values())

    def _known_there(self) -> list[UUID]:
        return [id_ for id_ in self.house.rows if self._partner(id_).row(id_) is not None]

    def _callbacks(self) -> list[tuple[PartnerAtPlay, tuple[int, bytes]]]:
        return [(each, callback) for each in self.partners.values() for callback in each.callbacks()]

    def _is_by_files(self, id_: UUID) -> bool:
        return isinstance(self._partner(id_).manners.programme.carrier, ByFile)

    def _asked(self, asked: Question, *, slow_s: int | None = None) -> Heard:
        now, id_ = self.house.now, asked.exchange.exchange_id
        later = None if slow_s is None else now.timestamp() + slow_s
        return self._partner(id_).ask(asked.act, asked.exchange, self.house.numbers[id_], now, later=later)

    def _tell_again(self, id_: UUID) -> None:
        if not self._is_by_files(id_):
            self._partner(id_).tell_again(id_, self.house.now)

    def _told(self, partner: PartnerAtPlay, callback: tuple[int, bytes], *, twice: bool = False) -> None:
        n, body = callback
        if not twice:
            partner.forget_callback(n)
        self.house.is_told(*told_by(body))


def _more(heard: Heard) -> Heard:
    return heard._replace(amount=heard.amount + 1) if isinstance(heard, Credited) else heard


@pytest.mark.long
@pytest.mark.timeout(600)
def test_no_order_of_messages_brings_a_point_into_two_houses_or_none() -> None:
    run_state_machine_as_test(GoingOut, settings=playing(by_day=300, by_night=1000))
