"""Without one comparison of holds, allowances, approvals and the log: a ledger that was tampered with would pass."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.killers import agreement, agrees, recomputed, sound
from tests.reliability.mutants.mutant import Mutant

_CHAIN: Final = "abacus/proof/decide/account_chain.py"
_RECOMPUTE: Final = "abacus/proof/decide/recompute.py"
_HOLDS: Final = "abacus/proof/decide/holds.py"
_COUNTED: Final = "abacus/proof/decide/counted.py"
_APPROVED: Final = "abacus/proof/decide/approved.py"
_APPROVALS: Final = "abacus/proof/approvals.py"
_ROWS: Final = "abacus/proof/hold_rows.py"
_PARTNERS: Final = "abacus/proof/partners.py"

MUTANTS: Final = (
    Mutant(
        "the comparison of a hold with its transfers",
        _CHAIN,
        "Follower._follow_movement",
        Node("yield from self._holds.follow(...)"),
        (agreement("a hold that was settled otherwise"),),
    ),
    Mutant(
        "the comparison of who settles a hold",
        _HOLDS,
        "Holds.follow",
        Node("recorded[name] != value", "name != 'settled_by' and recorded[name] != value"),
        (agreement("a hold that is an exchange's"),),
    ),
    Mutant(
        "the programme of an exchange",
        _RECOMPUTE,
        "_of_programme",
        Node("transfer.source != source", "False"),
        (recomputed("an exchange of another programme"),),
    ),
    Mutant(
        "the sum of the open holds",
        _HOLDS,
        "Holds.finish",
        Node("held != of_open", "False"),
        (agreement("an invented hold"),),
    ),
    Mutant(
        "the look for a hold that nobody placed",
        _HOLDS,
        "Holds.finish",
        Node("name not in self._placed", "False"),
        (agreement("an invented hold"),),
    ),
    Mutant(
        "the look for a hold that nothing settled",
        _HOLDS,
        "Holds.finish",
        Node("hold.status != HoldStatus.OPEN and name not in self._settled", "False"),
        (agreement("a hold that is settled by nothing"),),
    ),
    Mutant(
        "the holds of accounts without transfers",
        _ROWS,
        "HoldRows.of",
        Node("_note(report, [hold])"),
        (agreement("a hold of nobody"),),
    ),
    Mutant(
        "the holds of a member's accounts without transfers",
        _ROWS,
        "HoldRows.of",
        Node("_note(report, [hold for holds in self._by_program.values() for hold in holds])"),
        (agreement("a hold in another program"),),
    ),
    Mutant(
        "the comparison of a budget in all",
        _COUNTED,
        "faults_of_allowance",
        Node("not in_all.allows(allowance.used)", "False"),
        (agreement("a budget that is used up by nothing"),),
    ),
    Mutant(
        "the comparison of a budget's day",
        _COUNTED,
        "faults_of_allowance",
        Node("not on_day.allows(allowance.used_that_day)", "False"),
        (agreement("points of a budget that were not used"),),
    ),
    Mutant(
        "the look for a day that was turned back",
        _COUNTED,
        "faults_of_allowance",
        Node("counted.least > 0", "False"),
        (agreement("a day that begins anew"),),
    ),
    Mutant(
        "the comparison of a member's day",
        _COUNTED,
        "fault_of_day",
        Node("counted.allows(recorded)", "True"),
        (agreement("a member's day that begins anew"),),
    ),
    Mutant(
        "the days that have transfers and no row",
        _PARTNERS,
        "Partners.up_to",
        Node("recorded.keys() | over", "recorded.keys()"),
        (agreement("a member's day that is gone"),),
    ),
    Mutant(
        "the points given back, of one's own award",
        _COUNTED,
        "use_of",
        Node("Use(partner_id, Counted.of(-own, certain=certain), ...)", "None"),
        (agrees("test_a_busy_ledger_is_clean"),),
    ),
    Mutant(
        "the bounds of what older versions counted",
        _COUNTED,
        "use_of",
        Node("certain and transfer.format >= _MOVEMENTS_COUNT", "certain"),
        (sound("test_what_is_not_certain_of_older_versions_is_no_fault"),),
    ),
    Mutant(
        "the two days around midnight",
        _COUNTED,
        "_days",
        Node("[day] if day == later else [day, later]", "[day]"),
        (sound("test_a_clock_that_lags_around_midnight"),),
    ),
    Mutant(
        "the digest of an approval",
        _APPROVED,
        "faults_of_approval",
        Node("approval.digest != digest_of(...)", "False"),
        (agreement("an approval of other points"),),
    ),
    Mutant(
        "the look whether a person decided",
        _APPROVED,
        "faults_of_approval",
        Node("by is None or not is_person(by)", "False"),
        (agreement("an approval by a login"),),
    ),
    Mutant(
        "the look whether the approver exists",
        _APPROVED,
        "faults_of_approval",
        Node("not decided.is_person", "False"),
        (agreement("an approver who does not exist"),),
    ),
    Mutant(
        "the look whether the author approved",
        _APPROVED,
        "faults_of_approval",
        Node("by == approval.asked_by", "False"),
        (agreement("an approval by its author"),),
    ),
    Mutant(
        "the look for the approval in the log",
        _APPROVED,
        "faults_of_approval",
        Node("not decided.is_logged", "False"),
        (agreement("an approval that the log does not know"),),
    ),
    Mutant(
        "the digest that the log has of an approval",
        _APPROVALS,
        "_DECIDED",
        Clause("l.details ->> 'digest' = a.digest or a.summary = 'erased'", "true"),
        (agreement("an approval of other points, digest and all"),),
    ),
    Mutant(
        "the look for the movement that was approved",
        _APPROVED,
        "faults_of_approval",
        Node("approval.status == Status.DONE and ...", "False"),
        (agreement("an approval of something else"),),
    ),
    Mutant(
        "the look for an author who is a login",
        _APPROVED,
        "faults_of_approval",
        Node("is_login(approval.asked_by)", "False"),
        (agreement("an author who is a login"),),
    ),
    Mutant(
        "the look for the approval that a movement names",
        _APPROVED,
        "faults_of_movement",
        Node("approval is None or approval.decided_by != person_source(approver)", "False"),
        (agreement("an approval by its author"),),
    ),
    Mutant(
        "the comparison of a movement with its approval",
        _APPROVED,
        "faults_of_movement",
        Node("not _is_what_was_approved(transfer, approval)", "False"),
        (agreement("an approval of a reversal, of other points"),),
    ),
    Mutant(
        "the look for a movement in the log",
        _APPROVED,
        "faults_of_movement",
        Node("logged is None", "False"),
        (agreement("movements that the log does not know"),),
    ),
    Mutant(
        "the points that one person may move alone",
        _APPROVED,
        "faults_of_movement",
        Node("approver is None and logged.alone is not None and abs(transfer.points) > logged.alone", "False"),
        (agreement("a large movement that nobody approved"),),
    ),
)
