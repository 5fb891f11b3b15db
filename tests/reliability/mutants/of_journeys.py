"""Without one lock or check that lets a member of a journey go one way, once."""

from typing import Final

from tests.reliability.mutants.changes import Node
from tests.reliability.mutants.mutant import Mutant

_MOVER: Final = "abacus/engage/journeys/mover.py"
_TESTS: Final = "tests/engage/journeys"


def _moving(test: str) -> tuple[str]:
    return (f"{_TESTS}/test_mover.py::{test}",)


MUTANTS: Final = (
    Mutant(
        "the lock on seats whose wait an event may end",
        _MOVER,
        "Mover.run",
        Node("seats_of(connection, packs, lock=line.awaits)", "seats_of(connection, packs, lock=False)"),
        _moving("test_an_event_and_its_time_at_once[False]"),
    ),
    Mutant(
        "the look whether a member still waits for what its pack is for",
        _MOVER,
        "arrived_of",
        Node("(seat.node, seat.turn) == waits", "True"),
        _moving("test_the_time_of_a_wait_that_an_event_has_ended_moves_nobody"),
    ),
    Mutant(
        "the look whether a seat is of the pack's version",
        _MOVER,
        "arrived_of",
        Node("seat.version == pack.version", "True"),
        _moving("test_who_is_moved_back_is_not_given_the_same_again"),
    ),
    Mutant(
        "the look whether who goes on has left meanwhile",
        _MOVER,
        "Mover._go_on",
        Node("not are_locked", "False"),
        _moving("test_who_leaves_amid_a_step_to_the_next_event_is_not_brought_back"),
    ),
    Mutant(
        "the wait that goes on after an event that does not end it",
        "abacus/engage/journeys/decide/seat.py",
        "Moved.stays",
        Node("is_same and arrived.event is not None", "False"),
        _moving("test_an_event_that_does_not_end_a_wait_leaves_it_as_it_is"),
    ),
    Mutant(
        "the key of an entry that was done",
        "abacus/engage/journeys/seat_rows.py",
        "_enter",
        Node("all(each.key != entry.key for each in visits)", "True"),
        _moving("test_an_entry_is_done_once_and_visits_are_numbered"),
    ),
    Mutant(
        "the action that is there under its key",
        "abacus/engage/actions/action_store.py",
        "plan_once",
        Node("not is_duplicate(error)", "True"),
        _moving("test_who_is_moved_back_is_not_given_the_same_again"),
    ),
    Mutant(
        "the time up to which the events were read",
        "abacus/engage/journeys/journeyer.py",
        "Journeyer._heard_upto",
        Node("min(upto, self._clock.now())", "self._clock.now()"),
        (f"{_TESTS}/test_journeyer.py::test_waits_for_an_event_end_by_what_was_heard",),
    ),
)
