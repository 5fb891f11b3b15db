"""Without one check that lets somebody into the console, or keeps one person's pages from another's."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant

_ENTRY: Final = "abacus/console/entry"
_WEB: Final = "abacus/console/web"
_MOVES: Final = "abacus/console/pages/members/point_orders.py"
_SIGNING_IN: Final = "tests/console/test_signing_in.py"
_PAGES: Final = "tests/console/test_pages.py"
_MEMBERS: Final = "tests/console/test_members.py"
_APPROVING: Final = "tests/people/test_agreement.py"

MUTANTS: Final = (
    Mutant(
        "the token of forms",
        f"{_WEB}/calls.py",
        "call_of",
        Node("not fits(form.get(FORM_TOKEN), token, Use.FORM)", "False"),
        (f"{_PAGES}::test_forms_are_taken_from_pages_of_the_same_session_alone",),
    ),
    Mutant(
        "the use of a token in forms",
        f"{_ENTRY}/decide/browser.py",
        "derived",
        Node("token.encode()", "b''"),
        (f"{_PAGES}::test_forms_are_taken_from_pages_of_the_same_session_alone",),
    ),
    Mutant(
        "the role that a page takes",
        f"{_WEB}/routes.py",
        "_check",
        Node("not call.may_somewhere(served.deed)", "False"),
        (f"{_PAGES}::test_pages_are_for_those_whose_role_allows_them",),
    ),
    Mutant(
        "the role in all countries that a page takes",
        f"{_WEB}/routes.py",
        "_check",
        Node("call.check(served.deed, None)", "None"),
        (f"{_MEMBERS}::test_partners_are_for_those_who_see_every_country",),
    ),
    Mutant(
        "the end of a session that is idle",
        f"{_ENTRY}/decide/sessions.py",
        "ends_at",
        Node("min(...)", "session.started_at + limits.whole"),
        (f"{_SIGNING_IN}::test_a_session_ends_when_it_is_idle_and_in_any_case",),
    ),
    Mutant(
        "the end of a session in any case",
        f"{_ENTRY}/decide/sessions.py",
        "ends_at",
        Node("min(...)", "session.seen_at + limits.idle"),
        (f"{_SIGNING_IN}::test_a_session_ends_when_it_is_idle_and_in_any_case",),
    ),
    Mutant(
        "the end of a session that was revoked",
        f"{_ENTRY}/decide/sessions.py",
        "holds",
        Node("session.ended_at is None", "True"),
        (f"{_SIGNING_IN}::test_what_is_taken_away_counts_at_the_next_request[revoked]",),
    ),
    Mutant(
        "the look whether a person is disabled",
        f"{_ENTRY}/door.py",
        "_actor",
        Node("person.disabled_at is not None", "False"),
        (f"{_SIGNING_IN}::test_what_is_taken_away_counts_at_the_next_request[disabled]",),
    ),
    Mutant(
        "the password",
        f"{_ENTRY}/door.py",
        "Door.by_password",
        Node("not right or actor is None", "actor is None"),
        (f"{_SIGNING_IN}::test_whoever_is_not_let_in_is_told_the_same",),
    ),
    Mutant(
        "the code of an authenticator",
        f"{_ENTRY}/door.py",
        "Door._check_code",
        Node("not await self._authenticators.accepts(actor.name, code)", "False"),
        (f"{_SIGNING_IN}::test_who_has_an_authenticator_needs_its_code_and_a_code_works_once",),
    ),
    Mutant(
        "the single use of a code",
        f"{_ENTRY}/authenticators.py",
        "_USE",
        Clause("last_step < ?", "last_step <= ?"),
        (f"{_SIGNING_IN}::test_who_has_an_authenticator_needs_its_code_and_a_code_works_once",),
    ),
    Mutant(
        "the authenticator that a role takes",
        f"{_ENTRY}/door.py",
        "Door._check_code",
        Node("any(grant.role in self._code_for for grant in actor.grants or ())", "False"),
        (f"{_SIGNING_IN}::test_roles_may_need_an_authenticator",),
    ),
    Mutant(
        "the single use of a link",
        f"{_ENTRY}/links.py",
        "_USE",
        Clause(" and used_at is null"),
        (f"{_SIGNING_IN}::test_a_link_cannot_be_used_twice_at_once",),
    ),
    Mutant(
        "the end of a link",
        f"{_ENTRY}/links.py",
        "Links.find",
        Node("self._clock.now() < link.expires_at", "True"),
        (f"{_SIGNING_IN}::test_a_link_works_once_and_for_a_while",),
    ),
    Mutant(
        "the count of attempts",
        f"{_ENTRY}/door.py",
        "Door._take",
        Node("if permit.wait_s: ...", "pass"),
        (f"{_SIGNING_IN}::test_attempts_are_counted_for_a_person_at_an_address_and_for_an_address",),
    ),
    Mutant(
        "the count of codes",
        f"{_ENTRY}/door.py",
        "Door._check_code",
        Node('await self._take(f"code:{actor.name}", self._attempts.codes)'),
        (f"{_SIGNING_IN}::test_codes_are_counted_for_the_person_wherever_they_are_tried",),
    ),
    Mutant(
        "the rule that nobody is sent elsewhere",
        f"{_ENTRY}/decide/browser.py",
        "local_path",
        Node("text is not None and _LOCAL.fullmatch(text)", "text is not None"),
        (f"{_SIGNING_IN}::test_nobody_is_sent_elsewhere",),
    ),
    Mutant(
        "text that stays text",
        f"{_WEB}/answer.py",
        "_templates",
        Node("Environment(...)", "Environment(loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined)"),
        (f"{_MEMBERS}::test_what_people_wrote_is_text",),
    ),
    Mutant(
        "the country of a transfer that is taken back",
        _MOVES,
        "original_of",
        Node("not call.may(Deed.SEE, found.country)", "False"),
        (f"{_MEMBERS}::test_a_transfer_of_another_country_is_not_taken_back",),
    ),
    Mutant(
        "the effect of a form, once",
        f"{_WEB}/forms.py",
        "once",
        Node("raise DoneBefore from None", "pass"),
        ("tests/console/test_people_pages.py::test_a_form_without_idempotency_of_its_room_takes_effect_once",),
    ),
    Mutant(
        "the second person",
        "abacus/people/decide/agreement.py",
        "check_approves",
        Node("by.source == approval.asked_by", "False"),
        (f"{_APPROVING}::test_who_approves",),
    ),
    Mutant(
        "the digest of what is approved",
        "abacus/people/decide/agreement.py",
        "check_approves",
        Node("not approval.digest.startswith(digest)", "False"),
        (f"{_APPROVING}::test_who_approves",),
    ),
    Mutant(
        "reading one's own change",
        f"{_WEB}/calls.py",
        "Call.reading",
        Node("not self.has_changed", "True"),
        ("tests/console/test_replica.py::test_pages_are_read_from_a_standby_as_long_as_it_keeps_up",),
    ),
)
