"""Drafts of counters: a new one, or the next version of one."""

from typing import Final

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.web.calls import Call
from abacus.documents.form.example import example
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.counters.decide.definition_form import COUNTER_FORM, beside_others
from abacus.signals.counters.kind import COUNTERS


def _begin(_: Call) -> str:
    return COUNTERS.write(example(COUNTER_FORM))


COUNTER_DRAFTS: Final = DraftKind(
    kind=COUNTERS,
    desk=lambda rooms: rooms[CounterDesk],
    about="A version is never changed: the next one counts from 0, under the same keys.",
    begin=_begin,
    beside=beside_others,
    page=lambda counter: f"/counters/{counter.name}",
    everywhere=True,
)
