"""The tests that kill, by the promises that they hold. Each is one row of a table, so that a trial takes a moment."""

from typing import Final

_LEDGER: Final = "tests/ledger"


def fate(row: str, ledger: str = "memory") -> str:
    return f"{_LEDGER}/test_moves.py::test_what_becomes_of_each[{ledger}-{row}]"


def taken(row: str, ledger: str = "memory", mode: str = "by activity") -> str:
    return f"{_LEDGER}/test_moves.py::test_what_is_taken_back[{ledger}-{row}-{mode}]"


def day(row: str) -> str:
    return f"{_LEDGER}/test_days_by_lots.py::test_the_day_of_an_account_by_lots[memory-{row}]"


def pending(row: str) -> str:
    return f"{_LEDGER}/test_pending.py::test_what_becomes_of_pending_points[memory-{row}-by activity]"


def limits(row: str, ledger: str = "memory") -> str:
    return f"{_LEDGER}/test_limits.py::test_limits[{ledger}-{row}]"


def counts(row: str, ledger: str = "memory") -> str:
    return f"{_LEDGER}/test_partner_spending.py::test_what_counts[{ledger}-{row}]"


def alone(row: str, ledger: str = "memory") -> str:
    return f"{_LEDGER}/test_moved_alone.py::test_what_takes_a_second_person[{ledger}-{row}]"


def once(row: str, ledger: str = "memory") -> str:
    return f"{_LEDGER}/test_transactions_once.py::test_what_becomes_of_each[{ledger}-{row}]"


def at_once(test: str) -> str:
    return f"{_LEDGER}/test_moves_on_postgres.py::{test}"


def second(row: str) -> str:
    return at_once(f"test_who_comes_second_waits[{row}]")


def contract(test: str) -> str:
    return f"{_LEDGER}/test_ledger.py::{test}"


def batch(row: str) -> str:
    return f"{_LEDGER}/test_posting.py::test_one_batch[{row}]"


def posting(test: str) -> str:
    return f"{_LEDGER}/test_posting.py::{test}"


def transfer(test: str) -> str:
    return f"{_LEDGER}/test_transfer.py::{test}"


def lapse(test: str) -> str:
    return f"{_LEDGER}/test_lapse.py::{test}"


def moving(test: str) -> str:
    return f"{_LEDGER}/test_moving.py::{test}"


def beside(test: str) -> str:
    return f"{_LEDGER}/test_moves_beside.py::{test}"


def expiry(test: str) -> str:
    return f"tests/programs/expiry/test_expiry.py::{test}"


def database(test: str) -> str:
    return f"tests/platform/test_database_rules.py::{test}"


def agreement(row: str) -> str:
    return agrees(f"test_what_is_tampered_with_is_found_and_named[{row}]")


def agrees(test: str) -> str:
    return f"tests/proof/test_agreement.py::{test}"


def recomputed(row: str) -> str:
    return f"tests/proof/test_recompute.py::test_what_was_changed_is_found[{row}]"


def sound(test: str) -> str:
    return f"tests/proof/test_sound_ledgers.py::{test}"
