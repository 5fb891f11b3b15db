"""Tests that come by turns: each has one."""

from argparse import ArgumentTypeError

import pytest

from tests.support.turns import Turn, turn


def test_four_turns_run_each_test_once() -> None:
    tests = [f"tests/ledger/test_posting.py::test_a_key[{number}]" for number in range(400)]
    turns = [[test for test in tests if turn(f"{number}/4").has(test)] for number in range(1, 5)]
    assert sorted(test for each in turns for test in each) == sorted(tests)
    assert all(60 < len(each) < 140 for each in turns)


@pytest.mark.parametrize("said", ["", "1", "0/4", "5/4", "a/b", "1/2/3"])
def test_what_is_no_turn_is_refused(said: str) -> None:
    with pytest.raises(ArgumentTypeError):
        turn(said)


def test_a_turn_of_one_has_all() -> None:
    assert Turn(1, 1).has("tests/core/test_ids.py::test_one")
