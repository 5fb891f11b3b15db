"""Every state and every reason has plain words."""

import pytest

from abacus.exchanges.decide.contract import REFUSALS
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.inbound import Ended, Refusal
from abacus.exchanges.decide.turn import Reason
from abacus.exchanges.decide.words import hands_in_words, in_words, reason_in_words
from tests.support.exchanged import exchange


@pytest.mark.parametrize("state", State)
def test_a_state_in_words(state: State) -> None:
    assert in_words(exchange(state)._replace(reason=None)).isprintable()
    assert hands_in_words(exchange(state)).isprintable()


@pytest.mark.parametrize("reason", [*Reason, *Refusal, *Ended, *REFUSALS])
def test_a_reason_in_words(reason: str) -> None:
    assert reason_in_words(reason) != reason.replace("-", " ")


def test_points_that_are_not_held_are_in_no_hands() -> None:
    lost = exchange(State.ASIDE, reason=Reason.HOLD_LOST)
    assert hands_in_words(lost) != hands_in_words(lost._replace(reason=Reason.OTHER_AMOUNT))


def test_a_state_with_its_reason() -> None:
    row = exchange(State.RELEASED)
    assert in_words(row._replace(reason="account-closed")) == "the points are free again: the account is closed"
    assert in_words(row._replace(reason="of-their-own")) == "the points are free again: of their own"
