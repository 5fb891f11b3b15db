"""The workload of a run: the same for a seed, of every kind, and with a fate for each message."""

from collections import Counter
from datetime import UTC, date, datetime

import pytest

from abacus.core.errors import Reason, SetAside
from abacus.intake.earning.decide.transaction import read_transaction
from abacus.programs.expiry.decide.month import Month, last_good_day
from tests.reliability.chaos.workload import Aside, Awarded, Ignored, TakenBack, Workload, is_sleeper, workload

TODAY = datetime(2026, 11, 20, 15, tzinfo=UTC)
LAPSING = Month(2026, 11)


@pytest.fixture(scope="module")
def made() -> Workload:
    return workload(7, 8_000, TODAY, LAPSING)


@pytest.mark.long
def test_a_seed_gives_the_same_messages_and_another_one_others(made: Workload) -> None:
    assert workload(7, 8_000, TODAY, LAPSING).messages == made.messages
    assert workload(8, 8_000, TODAY, LAPSING).messages != made.messages


def test_a_workload_has_its_number_of_messages_and_a_fate_for_each(made: Workload) -> None:
    assert len(made.messages) == 8_000
    assert {message.value for message in made.messages} == set(made.fates)


def test_every_kind_is_there(made: Workload) -> None:
    kinds = Counter(type(made.fates[message.value]) for message in made.messages)
    assert {kind for kind, count in kinds.items() if count > 50} == {Awarded, TakenBack, Aside, Ignored}
    reasons = {fate.reason for fate in made.fates.values() if isinstance(fate, Aside)}
    assert reasons == {
        Reason.UNDECODABLE,
        Reason.INVALID,
        Reason.UNKNOWN_COUNTRY,
        Reason.UNKNOWN_CURRENCY,
        Reason.UNKNOWN_VERTICAL,
        Reason.UNKNOWN_PAYMENT_TYPE,
        Reason.NO_CARD_IN_FORCE,
        Reason.IN_THE_FUTURE,
    }
    variants: dict[str, set[str]] = {}
    for fate in made.fates.values():
        if isinstance(fate, Awarded):
            variants.setdefault(fate.key, set()).add(fate.fingerprint)
    assert sum(len(each) > 1 for each in variants.values()) > 50
    assert len({message.key for message in made.messages}) > 2_000


def test_what_is_refunded_is_sent_and_never_contradicted_and_some_of_it_is_sent_later(made: Workload) -> None:
    places: dict[str, list[int]] = {}
    refunds: dict[str, int] = {}
    for place, message in enumerate(made.messages):
        match made.fates[message.value]:
            case Awarded(key):
                places.setdefault(key, []).append(place)
            case TakenBack(of=of):
                refunds.setdefault(of, place)
    before = [of for of, place in refunds.items() if place < places[of][0]]
    assert len(before) > 20
    assert all(len(places[of]) == 1 for of in refunds)


def test_sleepers_lapse_with_the_month_and_the_others_later(made: Workload) -> None:
    for message, fate in made.fates.items():
        if not isinstance(fate, Awarded):
            continue
        transaction = read_transaction(message)
        if transaction.country == "ID":
            continue
        good_until = last_good_day(transaction.occurred_at, UTC, 6)
        sleeps = is_sleeper(int(transaction.member_id[1:]))
        if transaction.occurred_at.date() > date(2026, 7, 1):
            assert not sleeps or good_until > LAPSING.last_day
        else:
            assert good_until == LAPSING.last_day


def test_what_cannot_be_read_is_set_aside_for_that(made: Workload) -> None:
    for body, fate in made.fates.items():
        match fate:
            case Aside(Reason.UNDECODABLE | Reason.INVALID as reason):
                if b"somebody-else" not in body:  # that shows when its transaction is looked up
                    with pytest.raises(SetAside, match=reason):
                        read_transaction(body)
            case _:
                read_transaction(body)
