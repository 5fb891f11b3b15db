"""Without one check that keeps where members are told once, and nowhere else."""

from typing import Final

from tests.reliability.mutants.changes import Behind, Clause, Node
from tests.reliability.mutants.mutant import Mutant

_FOLLOWER: Final = "abacus/signals/places/position_follower.py"
_TESTS: Final = "tests/signals/places/test_position_follower.py"

MUTANTS: Final = (
    Mutant(
        "the order in which a crossing is told and written",
        _FOLLOWER,
        "PositionFollower.handle",
        Behind(
            "await until_available(partial(self._tell, followed.crossings), self._health)",
            "await until_available(self._write, self._health)",
        ),
        (f"{_TESTS}::test_a_process_that_dies_behind_the_broker_tells_the_same_again",),
    ),
    Mutant(
        "the look whether a later position was written",
        "abacus/signals/places/visit_rows.py",
        "_KEEP",
        Clause("where r.seen_at < excluded.seen_at"),
        (f"{_TESTS}::test_a_process_that_lost_its_partition_writes_nothing_old",),
    ),
    Mutant(
        "what is left out of a position that is set aside",
        _FOLLOWER,
        "PositionFollower._followed",
        Node("kept(record.value)", "record.value"),
        (f"{_TESTS}::test_nothing_says_where_a_member_was",),
    ),
    Mutant(
        "what is left out of an event that is set aside",
        "abacus/signals/events/replay.py",
        "event_item",
        Node("kept(record.value)", "record.value"),
        (
            "tests/signals/events/test_whereabouts.py::test_what_is_set_aside_keeps_its_regions_and_is_replayed_with_them",
        ),
    ),
)
