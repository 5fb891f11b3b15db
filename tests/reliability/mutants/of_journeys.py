"""Without one lock or check that lets a member of a journey go one way, once."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant

_MOVER: Final = "abacus/engage/journeys/mover.py"
_MIGRATOR: Final = "abacus/engage/journeys/migrator.py"
_UNFOLDER: Final = "abacus/engage/journeys/unfolder.py"
_VISIT: Final = "abacus/engage/journeys/decide/visit.py"
_TESTS: Final = "tests/engage/journeys"


def _moving(test: str) -> tuple[str]:
    return (f"{_TESTS}/test_mover.py::{test}",)


def _silent(test: str) -> tuple[str]:
    return (f"{_TESTS}/test_silence.py::{test}",)


def _happening(test: str) -> tuple[str]:
    return (f"{_TESTS}/test_happenings.py::{test}",)


def _holding(test: str) -> tuple[str]:
    return (f"{_TESTS}/test_late_moves.py::{test}",)


def _admitting(test: str) -> tuple[str]:
    return (f"{_TESTS}/test_admission.py::{test}",)


def _migrating(test: str) -> tuple[str]:
    return (f"{_TESTS}/test_migrator.py::{test}",)


def _unfolding(test: str) -> tuple[str]:
    return (f"{_TESTS}/test_unfolder.py::{test}",)


def _erasing(test: str) -> tuple[str]:
    return (f"tests/oversight/erasure/test_journeys_meanwhile.py::{test}",)


MUTANTS: Final = (
    Mutant(
        "the lock on seats whose wait an event may end",
        _MOVER,
        "Mover.run",
        Node("seats_of(connection, packs, lock=True)", "seats_of(connection, packs, lock=False)"),
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
        "the look whether an event cannot be decided yet of who would be timed out",
        _MOVER,
        "Mover._go_on",
        Node("each.due is None or each.seat.member_id not in held", "True"),
        _holding("test_nobody_is_timed_out_by_what_cannot_be_decided"),
    ),
    Mutant(
        "the look whether an event comes behind another one that cannot be decided yet",
        _MOVER,
        "Mover.hear",
        Node("not are_late", "False"),
        _holding("test_the_topic_goes_on_and_the_member_is_moved_in_the_order_of_its_events"),
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
    Mutant(
        "the time up to which the events of a slice were read that was passed over",
        "abacus/engage/journeys/journeyer.py",
        "Journeyer.round",
        Node("min(heard, behind.get(slice_.number, heard))", "heard"),
        (f"{_TESTS}/test_journeyer.py::test_waits_of_a_slice_that_is_behind_do_not_end_by_what_others_heard",),
    ),
    Mutant(
        "the time for which who tries a late entry puts it off",
        "abacus/engage/journeys/late_rows.py",
        "_TAKE",
        Clause("set due_at = :until", "set due_at = due_at"),
        _happening("test_a_late_entry_is_tried_by_one_process_at_a_time"),
    ),
    Mutant(
        "the look whether a member has entered by what cannot be decided now",
        "abacus/engage/journeys/late_rows.py",
        "_KEEP",
        Clause("u.moves or not", "true or not"),
        _happening("test_an_event_that_is_read_again_is_told_as_it_was"),
    ),
    Mutant(
        "the packs that another process runs",
        "abacus/engage/journeys/pack_rows.py",
        "_TAKE",
        Clause("for update skip locked"),
        _moving("test_another_process_takes_other_packs"),
    ),
    Mutant(
        "the least time over the partitions of a topic",
        "abacus/engage/journeys/heard.py",
        "_UPTO",
        Clause("min(upto)", "max(upto)"),
        _silent("test_a_partition_that_nobody_has_read_yet_holds_up_all_waits"),
    ),
    Mutant(
        "the topics of which nothing was heard",
        "abacus/engage/journeys/heard.py",
        "HeardStore.upto",
        Node("len(rows) == len({*topics})", "True"),
        (f"{_TESTS}/test_journeyer.py::test_what_was_heard_never_goes_back",),
    ),
    Mutant(
        "the time that never goes back",
        "abacus/engage/journeys/heard.py",
        "_HEAR",
        Clause("where h.upto < excluded.upto"),
        (f"{_TESTS}/test_journeyer.py::test_what_was_heard_never_goes_back",),
    ),
    Mutant(
        "the partition that nobody has read",
        "abacus/engage/journeys/follower.py",
        "Silence.look",
        Node("EPOCH if messages else asked_at", "asked_at"),
        _silent("test_a_partition_that_nobody_has_read_yet_holds_up_all_waits"),
    ),
    Mutant(
        "how often a member enters",
        "abacus/engage/journeys/decide/admission.py",
        "not_again",
        Node("visits.ever >= rule.at_most", "False"),
        _admitting("test_how_often"),
    ),
    Mutant(
        "one visit at a time",
        "abacus/engage/journeys/decide/admission.py",
        "not_again",
        Node("visits.inside", "False"),
        _admitting("test_how_often"),
    ),
    Mutant(
        "one visit at a time for each value",
        "abacus/engage/journeys/decide/admission.py",
        "_not_for",
        Node("value in visits.values_inside", "False"),
        _admitting("test_how_often"),
    ),
    Mutant(
        "the look whether a member may come in",
        "abacus/engage/journeys/seat_rows.py",
        "_enter",
        Node("may_enter(entry, visits)", "True"),
        _moving("test_of_two_entries_at_once_the_second_sees_the_first"),
    ),
    Mutant(
        "the version by which a member entered",
        "abacus/engage/journeys/walks.py",
        "Walks._member",
        Node("self._versions.of(seat.journey, seat.version)", "self._versions.of(seat.journey, 1)"),
        (f"{_TESTS}/test_walks.py::test_members_stay_on_their_versions",),
    ),
    Mutant(
        "the time of an event before the wait for it",
        "abacus/engage/journeys/walks.py",
        "_ways",
        Node("event.occurred_at > seat.since", "True"),
        (f"{_TESTS}/test_walks.py::test_an_event_ends_the_wait_that_is_for_it",),
    ),
    Mutant(
        "the node in the key of a deed",
        _VISIT,
        "effect_key",
        Node("node.number", "0"),
        (f"{_TESTS}/test_walk.py::test_an_event_or_a_time_whichever_is_first",),
    ),
    Mutant(
        "the visit in the key of a deed",
        _VISIT,
        "effect_key",
        Node("visitor.visit", "1"),
        (f"{_TESTS}/test_walk.py::test_a_visit_and_not_a_version_is_in_the_key",),
    ),
    Mutant(
        "the lock on seats that are moved to another version",
        _MIGRATOR,
        "Migrator._land",
        Node("seats_of(connection, packs, lock=True)", "seats_of(connection, packs, lock=False)"),
        _migrating("test_an_event_amid_the_move_is_waited_for"),
    ),
    Mutant(
        "the look whether anybody is left on the earlier version",
        _MIGRATOR,
        "Migrator.move",
        Node(
            "await _are_left(slice_, migration)",
            "not moved",
        ),
        _migrating("test_who_goes_on_amid_the_move_is_moved_too"),
    ),
    Mutant(
        "since when a member is set aside who is moved to another version",
        _MIGRATOR,
        "Migrator._page_aside",
        Node("taken.since", "self._clock.now()"),
        _migrating("test_who_is_set_aside_is_moved_too_and_stays_set_aside"),
    ),
    Mutant(
        "the hold on the seats of members whose deeds are unfolded",
        "abacus/engage/journeys/seat_rows.py",
        "_HOLD",
        Clause("for key share of s"),
        _erasing("test_an_action_that_is_unfolded_now_is_waited_for"),
    ),
    Mutant(
        "the look whether a member was erased before its deed is unfolded",
        "abacus/engage/journeys/seat_rows.py",
        "_HOLD",
        Clause("where s.member_id not like 'erased-%'"),
        _unfolding("test_nothing_is_done_for_members_who_were_erased_meanwhile"),
    ),
    Mutant(
        "the lock on all seats of a member who is erased",
        "abacus/engage/journeys/leaving.py",
        "leave_all",
        Node("await lock_all(connection, member_id)"),
        _erasing("test_an_action_that_is_unfolded_now_is_waited_for"),
    ),
    Mutant(
        "the lock on a seat that is not written where something is done",
        "abacus/engage/journeys/seat_rows.py",
        "still_inside",
        Node("is_written(each) or bool(each.actions)", "is_written(each)"),
        _erasing("test_who_is_erased_amid_a_step_from_one_time_to_another_does_not_go_on"),
    ),
    Mutant(
        "the row of a deed that cannot be done",
        _UNFOLDER,
        "Unfolder.unfold",
        Node("await set_deeds_aside(connection, without, self._clock.now())"),
        (f"{_TESTS}/test_aside.py::test_a_deed_that_cannot_be_done_for_a_member_holds_up_nobody",),
    ),
    Mutant(
        "the end of a worker that can do nothing",
        _UNFOLDER,
        "Unfolder._look_at",
        Node("self._in_a_row >= _MOST_IN_A_ROW", "False"),
        (f"{_TESTS}/test_aside.py::test_where_no_deed_can_be_made_the_worker_stops",),
    ),
    Mutant(
        "the look whether a pack is run while it is moved",
        "abacus/engage/journeys/pack_rows.py",
        "_TAKE_VERSION",
        Clause("for update"),
        _migrating("test_a_process_that_runs_a_pack_now_is_waited_for"),
    ),
    Mutant(
        "the start of a wait that is moved",
        "abacus/engage/journeys/decide/migration.py",
        "landed",
        Node("seat.since if goes_on is GoesOn.BY_ITS_START else now", "now"),
        (
            f"{_TESTS}/test_migration.py::test_a_wait_for_an_event_keeps_its_start_and_has_the_length_of_the_other_version",
        ),
    ),
    Mutant(
        "the arm control of members who are moved",
        "abacus/engage/journeys/decide/migration.py",
        "faults_of_stands",
        Node("arm == CONTROL", "False"),
        (f"{_TESTS}/test_migration.py::test_nobody_of_the_control_lands_before_a_deed",),
    ),
)
