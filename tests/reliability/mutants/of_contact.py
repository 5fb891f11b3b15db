"""Without one look, lock or count that keeps what members are told to the policy of their country."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant

_NOTICES: Final = "abacus/engage/notify/notices.py"
_CONTACT: Final = "abacus/engage/notify/decide/contact.py"
_OUTBOX: Final = "abacus/platform/delivery/outbox.py"


def _stored(test: str) -> tuple[str]:
    return (f"tests/engage/notify/test_caps.py::{test}",)


def _decided(test: str) -> tuple[str]:
    return (f"tests/engage/notify/test_contact.py::{test}",)


def _put_back(test: str) -> tuple[str]:
    return (f"tests/platform/delivery/test_tables.py::{test}",)


_SHARED: Final = _stored("test_all_campaigns_share_a_cap_from_one_gathering_to_the_next")
_EACH: Final = _decided("test_a_message_is_told_waits_or_is_never_told")

MUTANTS: Final = (
    Mutant(
        "the lock of who makes messages in a slice",
        _NOTICES,
        "Notices._gather",
        Node("not await connection.fetchval(...)", "await connection.fetchval('select false')"),
        _stored("test_no_cap_is_passed_however_many_gather_at_once"),
    ),
    Mutant(
        "the look at what caps have counted before",
        _NOTICES,
        "Notices._gather",
        Node("capped(policies)", "False"),
        _SHARED,
    ),
    Mutant(
        "what is counted with the message that is made",
        _NOTICES,
        "_Gathering.write",
        Node("await keep(...)"),
        _SHARED,
    ),
    Mutant(
        "the channels over which a notice was told before",
        _NOTICES,
        "_Gathering._over",
        Node("due.owed is None or each in due.owed", "True"),
        _SHARED,
    ),
    Mutant(
        "the sum of the counts of a day",
        "abacus/engage/notify/contact_rows.py",
        "_COUNT",
        Clause("c.messages + excluded.messages", "excluded.messages"),
        _SHARED,
    ),
    Mutant(
        "the count of each message that a cap is for",
        _CONTACT,
        "_Deciding._decide_over",
        Node("self.contact.counted[what, today] += 1"),
        _decided("test_the_highest_priority_is_told_and_the_others_wait_for_the_next_day"),
    ),
    Mutant(
        "the count within one message",
        _CONTACT,
        "_Deciding._decide_over",
        Node("self._told[what, today] += 1"),
        _decided("test_the_highest_priority_is_told_and_the_others_wait_for_the_next_day"),
    ),
    Mutant(
        "the cap of a day",
        _CONTACT,
        "_Deciding._has_room",
        Node("self._told[what, day] < cap.a_day", "True"),
        _EACH,
    ),
    Mutant("the cap of a week", _CONTACT, "_Deciding._has_room", Node("week < cap.a_week", "True"), _EACH),
    Mutant(
        "the days that make a week",
        _CONTACT,
        "_Deciding._has_room",
        Node("range(DAYS_OF_A_WEEK)", "range(1)"),
        _EACH,
    ),
    Mutant(
        "how long a message waits for room",
        _CONTACT,
        "_Deciding._decide_over",
        Node("again > notice.happened_at + policy.patience_days * _DAY", "False"),
        _EACH,
    ),
    Mutant(
        "the quiet hours before a message is made",
        _CONTACT,
        "_Deciding.decide",
        Node("end > self._now", "False"),
        _decided("test_quiet_hours_are_those_of_the_members_zone"),
    ),
    Mutant(
        "the holdout",
        _CONTACT,
        "_Deciding.decide",
        Node("policy.holds_out(due.notice.member_id)", "False"),
        _decided("test_nothing_is_promoted_to_the_holdout_and_it_is_told_of_its_points"),
    ),
    Mutant(
        "what the holdout is told all the same",
        _CONTACT,
        "_Deciding.decide",
        Node("kind is MessageKind.MARKETING", "True"),
        _decided("test_nothing_is_promoted_to_the_holdout_and_it_is_told_of_its_points"),
    ),
    Mutant(
        "the message that is put back for the end of quiet hours",
        "abacus/engage/notify/outbox.py",
        "NotificationOutbox.take",
        Node("await self._outbox.put_back(quiet)"),
        _put_back("test_what_is_put_back_has_all_its_time_again"),
    ),
    Mutant(
        "the attempts of what is put back",
        _OUTBOX,
        "_statements",
        Clause("= s.again_at, attempts = 0", "= s.again_at"),
        _put_back("test_what_is_put_back_has_all_its_time_again"),
    ),
    Mutant(
        "since when what is put back has failed",
        _OUTBOX,
        "_statements",
        Node("', failing_since = null' if table.settles == FAILING_SINCE else ''", "''"),
        _put_back("test_what_is_put_back_has_all_its_time_again"),
    ),
    Mutant(
        "the look whether another has taken what is put back",
        _OUTBOX,
        "_statements",
        Clause("and s.lease_until = t.", "and s.lease_until is not null or null = t."),
        _put_back("test_what_another_has_taken_is_not_put_back"),
    ),
)
