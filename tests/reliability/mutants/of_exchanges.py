"""Without one check that keeps an exchanged point in one house, or that tells when it is in two."""

from typing import Final

from tests.reliability.mutants.changes import Clause, Node
from tests.reliability.mutants.mutant import Mutant

_TURN: Final = "abacus/exchanges/decide/turn.py"
_CONVERTER: Final = "abacus/exchanges/converter.py"
_SETTLER: Final = "abacus/exchanges/settler.py"
_INBOUND: Final = "abacus/exchanges/decide/inbound.py"
_MATCHING: Final = "abacus/exchanges/decide/matching.py"
_MATCHER: Final = "abacus/exchanges/books/matcher.py"
_FILE: Final = "abacus/exchanges/decide/transfer_file.py"
_CAPS: Final = "abacus/exchanges/decide/caps.py"
_TERMS: Final = "abacus/exchanges/decide/terms.py"
_RECONCILED: Final = "abacus/oversight/reconcile/exchanges.py"
_EXCHANGED: Final = "abacus/oversight/reconcile/decide/exchanged.py"


def _ordered(test: str) -> tuple[str]:
    return (f"tests/exchanges/decide/test_orders.py::{test}",)


def _carried(test: str) -> tuple[str]:
    return (f"tests/exchanges/test_exchanger.py::{test}",)


def _booked(test: str) -> tuple[str]:
    return (f"tests/exchanges/books/test_books.py::{test}",)


_PLAYED: Final = (
    "tests/exchanges/play/test_outgoing.py::test_no_order_of_messages_brings_a_point_into_two_houses_or_none",
)
_PLAYED_IN: Final = (
    "tests/exchanges/play/test_incoming.py::test_no_order_of_messages_brings_a_point_that_comes_in_into_two_houses_or_none",
)
_IN_ONE_PLACE: Final = _ordered("test_points_are_never_in_two_places")
_ANOTHER_AMOUNT: Final = _ordered("test_another_amount_is_a_persons")
_WITHIN_LIMITS: Final = _carried("test_what_passes_a_limit_holds_nothing")
_ONE_KEY: Final = _carried("test_a_key_is_that_of_one_quote")
_MILES: Final = _carried("test_points_become_miles")
_JUDGED: Final = ("tests/exchanges/decide/test_matching.py::test_a_line_ties_or_is_a_break_of_its_kind",)
_BELIEVED: Final = ("tests/exchanges/decide/test_transfer_file.py::test_results_that_are_not_believed",)
_RECONCILES: Final = ("tests/oversight/reconcile/test_exchanges.py::test_what_was_exchanged_comes_out_or_is_told",)
_TOLD: Final = ("tests/oversight/reconcile/test_exchanges.py::test_what_does_not_come_out_of_one_is_told",)

MUTANTS: Final = (
    Mutant(
        "the tombstone behind a refusal that the partner forgets",
        _TURN,
        "_after_sending",
        Node("programme.remembers_refusals", "True"),
        _IN_ONE_PLACE,
    ),
    Mutant(
        "the tombstone behind a refusal while it is cancelled",
        _TURN,
        "_while_cancelling",
        Node("programme.remembers_refusals", "True"),
        _IN_ONE_PLACE,
    ),
    Mutant(
        "the amount that a partner has credited",
        _TURN,
        "_decided",
        Node("amount == exchange.theirs", "True"),
        _ANOTHER_AMOUNT,
    ),
    Mutant(
        "the note of a credit behind a tombstone",
        _TURN,
        "turn",
        Node("state in _LET_GO and isinstance(heard, Credited)", "False"),
        _IN_ONE_PLACE,
    ),
    Mutant(
        "the message that is put again",
        _TURN,
        "act",
        Node("exchange.reason == Reason.NOT_KNOWN", "False"),
        _carried("test_silence_releases_nothing"),
    ),
    Mutant(
        "the end of waiting for a partner",
        _TURN,
        "woken",
        Node("exchange.state in _ASKING and _is_late_for_good(...)", "False"),
        _carried("test_what_is_late_for_good_is_cancelled"),
    ),
    Mutant(
        "the end of taking back",
        _TURN,
        "reversing",
        Node("now >= until", "False"),
        _ordered("test_only_what_was_credited_lately_is_taken_back"),
    ),
    Mutant(
        "calling off what was sent",
        _TURN,
        "called_off",
        Node("_check(exchange, _NOT_SENT, ...)"),
        _carried("test_what_was_not_sent_is_called_off"),
    ),
    Mutant(
        "the hold behind silence",
        _TURN,
        "_after_sending",
        Node("_unknown(exchange, heard, now, share)", "_to(exchange, State.CANCELLED, now, None, due_at=now)"),
        _PLAYED,
    ),
    Mutant(
        "the tombstone behind what a person cancels",
        _TURN,
        "settled",
        Node("State.CANCELLING", "State.CANCELLED"),
        _PLAYED,
    ),
    Mutant(
        "the commit behind which nothing is dropped",
        _INBOUND,
        "dropped",
        Node("exchange.state is not State.RESERVED", "exchange.state is State.AWARDED"),
        _PLAYED_IN,
    ),
    Mutant(
        "what a conversion takes of limits",
        _CONVERTER,
        "_Rows.write",
        Node("await add_uses(connection, more)"),
        _WITHIN_LIMITS,
    ),
    Mutant(
        "the limits of a programme",
        _CAPS,
        "Room.check",
        Node("most is not None and used + exchange.points > most", "False"),
        _WITHIN_LIMITS,
    ),
    Mutant(
        "the money that is left at a partner",
        _CAPS,
        "Room.check",
        Node("exchange.direction is Direction.OUT and not can_hold(...)", "False"),
        _WITHIN_LIMITS,
    ),
    Mutant(
        "the entry of points that are held",
        _CONVERTER,
        "_Rows.write",
        Node("await write_entries(...)"),
        _MILES,
    ),
    Mutant(
        "the quote of a key",
        _CONVERTER,
        "_answered",
        Node("before.exchange_id == conversion.quote_id", "True"),
        _ONE_KEY,
    ),
    Mutant(
        "the member of a quote",
        _CONVERTER,
        "_answered",
        Node("conversion.member_id not in {None, quote.member_id}", "False"),
        _ONE_KEY,
    ),
    Mutant(
        "the end of a quote",
        _CONVERTER,
        "_stale",
        Node("now >= quote.expires_at", "False"),
        _carried("test_what_cannot_be_held_leaves_the_key_free"),
    ),
    Mutant(
        "what a limit gets back",
        _SETTLER,
        "_Rows.write",
        Node("await add_uses(connection, given_back(free))"),
        _WITHIN_LIMITS,
    ),
    Mutant(
        "the entry of points that were captured",
        _SETTLER,
        "_Rows.write",
        Node("await write_entries(...)"),
        _MILES,
    ),
    Mutant(
        "the tombstone of what comes in",
        _INBOUND,
        "committed",
        Node("exchange.state is not State.RESERVED", "False"),
        ("tests/exchanges/decide/test_inbound_orders.py::test_what_was_dropped_is_refused_for_ever",),
    ),
    Mutant(
        "rounding that costs the member nothing",
        _TERMS,
        "_amounts",
        Node("terms.fewest_for(credit)", "points"),
        ("tests/exchanges/decide/test_terms.py::test_a_known_answer",),
    ),
    Mutant(
        "the break of another amount",
        _MATCHING,
        "_kind_of",
        Node("line.amount != ours.theirs", "False"),
        _JUDGED,
    ),
    Mutant(
        "the break of a reversal on one side",
        _MATCHING,
        "_kind_of",
        Node("back_there != back_here", "False"),
        _JUDGED,
    ),
    Mutant(
        "waiting for an exchange that is still open",
        _MATCHING,
        "judge",
        Node("ours.state in _OPEN_HERE", "False"),
        _JUDGED,
    ),
    Mutant(
        "the day behind a credit that the partner does not tell",
        _MATCHER,
        "_missing",
        Node("len(await connection.fetch(...)) < len(days)", "False"),
        _booked("test_what_the_partner_never_tells_is_a_break_once_both_days_are_complete"),
    ),
    Mutant(
        "the credits that have no line",
        _MATCHER,
        "_CREDITED",
        Clause("and e.credited_at < :until"),
        _booked("test_what_the_partner_never_tells_is_a_break_once_both_days_are_complete"),
    ),
    Mutant(
        "the totals of a file",
        _FILE,
        "_check_totals",
        Node("(body.lines_said, body.amount_said) != (...)", "False"),
        _BELIEVED,
    ),
    Mutant("lines that nobody asked for", _FILE, "read_results", Node("id_ not in asked", "False"), _BELIEVED),
    Mutant("lines that stand twice", _FILE, "read_results", Node("id_ in results", "False"), _BELIEVED),
    Mutant(
        "the file that an answer is about",
        _FILE,
        "_body",
        Node("not rows or rows[0][: len(header)] != [*header]", "not rows"),
        _BELIEVED,
    ),
    Mutant(
        "movements that have no exchange",
        _RECONCILED,
        "exchange_books",
        Node("in_ledger != posted", "False"),
        _RECONCILES,
    ),
    Mutant(
        "holds that nobody settles",
        _RECONCILED,
        "_left_behind",
        Node("id_ not in still", "False"),
        _RECONCILES,
    ),
    Mutant(
        "the source that settles a hold",
        _EXCHANGED,
        "_of_hold",
        Node("hold.settled_by != exchange_source(...)", "False"),
        _TOLD,
    ),
)
