"""A store that fails is left alone for a while, and asked once after that."""

import pytest

from abacus.platform.reading.decide.circuit import Circuit, Patience

PATIENCE = Patience(failures=5, first_s=5, longest_s=60)
NOON = 43_200.0


def failing(times: int, patience: Patience = PATIENCE) -> Circuit:
    circuit = Circuit(patience)
    for _ in range(times):
        assert circuit.may_ask(NOON)
        circuit = circuit.asked(NOON).failed(NOON)
    return circuit


def test_it_is_asked_until_it_has_failed_often_enough() -> None:
    assert failing(4).may_ask(NOON)
    assert not failing(5).may_ask(NOON)


def test_one_call_goes_through_after_the_rest() -> None:
    circuit = failing(5)
    assert [circuit.may_ask(at) for at in (NOON + 4.9, NOON + 5)] == [False, True]
    asked = circuit.asked(NOON + 5)
    assert [asked.may_ask(at) for at in (NOON + 5, NOON + 14.9, NOON + 15)] == [False, False, True]
    assert asked.succeeded().may_ask(NOON + 5)


@pytest.mark.parametrize(
    ("patience", "rests"),
    [(PATIENCE, [5, 10, 20, 40, 60, 60]), (Patience(failures=3), [1, 1, 1])],
    ids=["grows", "stays"],
)
def test_the_rest_while_it_fails(patience: Patience, rests: list[float]) -> None:
    circuit, now, seen = failing(patience.failures, patience), NOON, list[float]()
    for _ in rests:
        seen.append(circuit.rests_until - now)
        now = circuit.rests_until
        circuit = circuit.asked(now).failed(now)
    assert seen == rests


def test_a_success_forgets_all_failures() -> None:
    assert failing(4).succeeded().failed(NOON).may_ask(NOON)
