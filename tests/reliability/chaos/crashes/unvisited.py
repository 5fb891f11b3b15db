"""The sites that no work visits, and why. Pure."""

from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from tests.reliability.chaos.crashes.site import Site


class _Reason(NamedTuple):
    """Why no work visits the sites whose function and text match these patterns."""

    module: str
    function: str
    text: str
    why: str

    def fits(self, site: Site) -> bool:
        return (
            self.module == site.module
            and fnmatchcase(site.function, self.function)
            and fnmatchcase(site.text, self.text)
        )


_STOPPED: Final = "only when the breaker has stopped the line: the worker waits for its end and does nothing"
_REFUSED: Final = "only when posting fails because of an award: a value that passed every check, or a bug"
_BY_THE_API: Final = "only what the API does with points: it is no message's way"
_FORGED: Final = "only for awards of points that no known card issues: nothing is decided before the reading"
_BROKER_AWAY: Final = "only when the broker is away or does not answer: nothing is in hand that is not read again"
_BY_THE_COUNTER: Final = "only for a handler that keeps its places: the counter, which no points pass"
_READ_ELSEWHERE: Final = "only for rules that ask for a segment or a counter: nothing is decided before the reading"

_CONTRADICT: Final = "only where messages contradict each other about an event: nothing is decided yet"
_MET_BEFORE: Final = "only for a member whom the campaign met in a batch before: those of the trials are new"
_PACED: Final = "only where an operator has set a pace: it takes turns, and nothing is in hand"
_SECOND_GIFT: Final = "only when a member had points of the partner on that day before: that of the trials has none"
_READ_ONLY: Final = "only where a partner's use is told: no message's way"
_OF_PARTS: Final = (
    *("_lock_in_slice", "_write_in_slice", "_locked_and_counted*", "count_anew", "lock_parts", "open_parts"),
    *("write_parts", "parts_on", "_in_reach"),
)
_IN_SLICES: Final = "only where the ledger is cut into slices: that of the trials is whole"
_ON_SERVERS: Final = "only where slices lie on several servers: the ledger of the trials lies on one"

REASONS: Final = (
    _Reason("abacus.ledger.relay.publish_transfers", "*.next", "still_held(*", _ON_SERVERS),
    _Reason("abacus.platform.following.lease", "still_held", "*", _ON_SERVERS),
    _Reason("abacus.intake.awarding.awarder", "*.handle", "self._come_again(*", _IN_SLICES),
    _Reason("abacus.intake.awarding.awarder", "*._come_again", "*", _IN_SLICES),
    _Reason("abacus.ledger.store.rows", "lock_accounts", "_take_place(*", _IN_SLICES),
    _Reason("abacus.ledger.store.rows", "_take_place", "*", _IN_SLICES),
    _Reason("abacus.ledger.store.rows", "_open", "_enter(*", _IN_SLICES),
    _Reason("abacus.platform.following.lease", "share", "*", _IN_SLICES),
    _Reason("abacus.platform.following.lease", "count_shares", "*", _IN_SLICES),
    _Reason("abacus.engage.campaigns.effects", "Effects._parts", "entered(*", _IN_SLICES),
    _Reason("abacus.engage.limits.pot_store", "PotStore.lock.lock_here", "stay(*", _IN_SLICES),
    _Reason("abacus.engage.actions.receiver_pace", "*", "*", _PACED),
    _Reason("abacus.intake.earning.calculator", "*.run", "stop.wait()", _STOPPED),
    _Reason(
        "abacus.intake.earning.deciding",
        "*.decide",
        "self._decide(read, self._calculator_for(self._cards.book()))",
        "only when a card is published while the batch is decided; nothing is in hand",
    ),
    _Reason("abacus.intake.awarding.isolate_failures", "isolate_failures", "isolate_failures(*", _REFUSED),
    _Reason(
        "abacus.ledger.store.rows",
        "in_a_transaction",
        "asyncio.sleep*",
        "only when another batch claims the same key or opens the same account at that moment; nothing is in hand",
    ),
    _Reason("abacus.ledger.store.rows", "_append", "*stamped*", "only when a batch waited past a later transaction id"),
    _Reason("abacus.ledger.store.alone", "*", "*", _BY_THE_API),
    _Reason("abacus.ledger.store.moves", "*", "*_KEEP_HOLD*", _BY_THE_API),
    _Reason("abacus.ledger.store.post", "*_register_missing", "*", _IN_SLICES),
    _Reason("abacus.ledger.store.post", "*_post_in", "*_register_missing(*", _IN_SLICES),
    _Reason("abacus.ledger.store.partner_limits", "_write_placed", "*", _IN_SLICES),
    _Reason("abacus.ledger.store.partner_limits", "write_rejections", "_write_placed(*", _IN_SLICES),
    _Reason("abacus.ledger.store.partner_limits", "write_use", "*_SPEND_ON_MEMBER*", _SECOND_GIFT),
    _Reason("abacus.ledger.store.allowances", "lock", "_lock_in_slice(*", _IN_SLICES),
    _Reason("abacus.ledger.store.allowances", "write", "_write_in_slice(*", _IN_SLICES),
    *(_Reason("abacus.ledger.store.allowances", name, "*", _IN_SLICES) for name in _OF_PARTS),
    *(_Reason("abacus.ledger.store.allowances", name, "*", _READ_ONLY) for name in ("wholes_on", "awarded")),
    _Reason("abacus.ledger.store.budgets", "*_hand_out", "*", _IN_SLICES),
    _Reason("abacus.ledger.store.budgets", "*within", "*_hand_out(*", _IN_SLICES),
    _Reason("abacus.ledger.store.moves", "_holds", "*", _BY_THE_API),
    _Reason("abacus.ledger.store.moves", "*_move", "lock_standing(*", _BY_THE_API),
    _Reason("abacus.ledger.store.moves", "*_move", "write_use(*", _BY_THE_API),
    _Reason("abacus.ledger.store.history", "original_of", "good_when_taken*", _BY_THE_API),
    _Reason("abacus.ledger.store.given_back", "*", "*", _BY_THE_API),
    _Reason("abacus.ledger.store.newcomers", "*", "*", "only for an id that deceives, which no work brings; a look"),
    _Reason("abacus.ledger.store.history", "with_cursor_moved", "*", "only where a lot was spent in part, by the API"),
    _Reason(
        "abacus.platform.following.cursor",
        "Cursor.position",
        "*_open(*",
        "once in a topic's life, before anything is published",
    ),
    _Reason(
        "abacus.platform.fresh_copy", "*.look_again", "asyncio.sleep*", "only when the cards were read a moment ago"
    ),
    _Reason("abacus.intake.awarding.door", "*._sorted", "*read_anew*", _FORGED),
    _Reason(
        "abacus.intake.awarding.door",
        "*._sorted",
        "*unknown(*",
        "only for awards of campaigns; a look that changes nothing",
    ),
    _Reason("abacus.platform.sqs.queue", "*_send_call", "*sleep*", "only when the queue takes a part of a call"),
    _Reason(
        "abacus.platform.sqs.consumer",
        "*_handle_isolating",
        "*[[]message])",
        "only when a handler fails in a way not foreseen",
    ),
    _Reason("abacus.platform.kafka.reader", "*_start", "consumer.stop()", _BROKER_AWAY),
    _Reason(
        "abacus.platform.kafka.reader",
        "*_deal_with",
        "asyncio.wait((work,))",
        "only when it is stopped while a batch is worked on: the batch is read again",
    ),
    _Reason("abacus.platform.kafka.reader", "*_run", "*_place_given*", _BY_THE_COUNTER),
    _Reason("abacus.platform.kafka.reader", "*_place*", "*", _BY_THE_COUNTER),
    _Reason(
        "abacus.platform.kafka.forgotten",
        "*.explain",
        "*beginning_offsets*",
        "only when messages were deleted, or others left out: nothing is in hand that is not read again",
    ),
    _Reason("abacus.engage.campaigns.progress_rows", "write_progress", "*_WRITE*", _MET_BEFORE),
    _Reason("abacus.engage.campaigns.first_events", "*", "*", _CONTRADICT),
    _Reason("abacus.signals.facts.segments", "*", "*", _READ_ELSEWHERE),
    _Reason("abacus.signals.facts.counters", "*", "*", _READ_ELSEWHERE),
    _Reason("abacus.platform.kafka.publisher", "*.close", "producer.*.close()", _BROKER_AWAY),
    _Reason("abacus.platform.kafka.publisher", "*._within", "self.close()", _BROKER_AWAY),
    _Reason("abacus.platform.kafka.publisher", "*._started", "producer.stop()", _BROKER_AWAY),
    _Reason(
        "abacus.platform.kafka.publisher", "*._send", "producer.send_batch*", "only when a batch has more than 256 KiB"
    ),
)


def why_not(site: Site) -> str | None:
    """Why no work visits the site, where a reason is written down."""
    return next((reason.why for reason in REASONS if reason.fits(site)), None)
