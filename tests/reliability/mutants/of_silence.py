"""Without one part of what keeps a slice that is held up, or a server that is silent, from holding up others."""

from typing import Final

from tests.reliability.mutants.changes import Node
from tests.reliability.mutants.mutant import Mutant

_ROUNDS: Final = "abacus/ledger/store/slices.py"
_HELD_UP: Final = "tests/ledger/slices/test_held_up.py"
_IN_TIME: Final = f"{_HELD_UP}::test_what_a_slice_does_not_do_in_time_waits_and_the_others_part_is_done"
_SILENT: Final = "tests/platform/pool/test_silence.py"

MUTANTS: Final = (
    Mutant(
        "the end of patience with a slice",
        _ROUNDS,
        "SliceRounds._by_slice",
        Node("self._patience_s", "None"),
        (_IN_TIME,),
    ),
    Mutant(
        "sending away who comes for a slice that is late",
        _ROUNDS,
        "SliceRounds._in_slice",
        Node("self._is_late(number)", "False"),
        (_IN_TIME,),
    ),
    Mutant(
        "telling a slice that is away from a ledger that is",
        _ROUNDS,
        "SliceRounds._by_slice",
        Node("self._others_go_on(slices, parts)", "False"),
        (_IN_TIME, f"{_HELD_UP}::test_awards_for_a_server_that_is_silent_come_again_and_others_are_posted"),
    ),
    Mutant(
        "asking a server whose statement takes long before it is taken for silent",
        "abacus/platform/pool/silence.py",
        "Watch._until_there",
        Node("await self._answers()", "False"),
        (f"{_SILENT}::test_a_statement_that_takes_long_is_waited_for_while_its_server_answers",),
    ),
    Mutant(
        "ending the session of a statement that nobody waits for",
        "abacus/platform/pool/silence.py",
        "StatementWatch.__exit__",
        Node("issubclass(kind, TimeoutError | asyncio.CancelledError)", "False"),
        (f"{_SILENT}::test_a_statement_that_nobody_waits_for_any_more_ends_with_its_session",),
    ),
)
