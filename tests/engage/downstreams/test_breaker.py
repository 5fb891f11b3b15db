"""A service that fails is left alone for a while, and asked once after that."""

from datetime import UTC, datetime, timedelta

from abacus.engage.downstreams.decide.breaker import FIRST, LONGEST, TRIES, Breaker

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def failing(times: int, at: datetime = NOON) -> Breaker:
    breaker = Breaker()
    for _ in range(times):
        assert breaker.may_ask(at)
        breaker.failed(at)
    return breaker


def test_it_is_asked_until_it_has_failed_often_enough() -> None:
    assert failing(TRIES - 1).may_ask(NOON)
    assert not failing(TRIES).may_ask(NOON)


def test_one_call_goes_through_after_the_pause() -> None:
    breaker = failing(TRIES)
    later = NOON + FIRST
    assert [breaker.may_ask(later) for _ in range(3)] == [True, False, False]
    breaker.succeeded()
    assert [breaker.may_ask(later) for _ in range(3)] == [True, True, True]


def test_the_pause_grows_while_it_fails() -> None:
    breaker, now, pauses = failing(TRIES), NOON, list[timedelta]()
    for _ in range(6):
        closed_until = breaker.closed_until
        assert closed_until is not None
        pauses.append(closed_until - now)
        now = closed_until
        assert breaker.may_ask(now)
        breaker.failed(now)
    assert pauses == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST, LONGEST, LONGEST]


def test_a_success_forgets_all_failures() -> None:
    breaker = failing(TRIES - 1)
    breaker.succeeded()
    breaker.failed(NOON)
    assert breaker.may_ask(NOON)
