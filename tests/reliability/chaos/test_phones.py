"""Answers of phones are held against what was true when they were given."""

import pytest

from tests.reliability.chaos.scenarios.phones import Answer, Phones, Truth, is_right

OLD, NEW, NEVER = ({"quay": frozenset({name})} for name in ("old", "new", "never"))
TRUTHS = [Truth(OLD), Truth(NEW, from_s=10.0, by_s=11.0)]


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        (Answer(OLD, 9.0, 9.1), True),
        (Answer(NEW, 9.0, 9.1), False),
        (Answer(OLD, 10.9, 11.5), True),
        (Answer(NEW, 9.9, 10.1), True),
        (Answer(OLD, 11.1, 11.2), False),
        (Answer(NEW, 99.0, 99.1), True),
        (Answer(NEVER, 10.5, 10.6), False),
    ],
)
def test_an_answer_is_right_if_it_was_true_meanwhile(answer: Answer, *, right: bool) -> None:
    assert is_right(answer, TRUTHS) == right


def test_a_wrong_answer_is_a_fault_unless_it_says_that_it_is_degraded() -> None:
    phones = Phones("", "", (0.0, 0.0), [Answer(OLD, 12.0, 12.1, is_degraded=True), Answer(NEW, 12.0, 12.1)])
    assert phones.faults(TRUTHS) == []
    phones.answers.append(Answer(OLD, 12.0, 12.1))
    (fault,) = phones.faults(TRUTHS)
    assert fault.startswith("1 answers are wrong")
    assert phones.outcomes(TRUTHS)["ms until the news"] == 2100
