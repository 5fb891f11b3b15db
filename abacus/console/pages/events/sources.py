"""Event sources: where the events stand that counters count and campaigns react to."""

from typing import Final

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.register import Register
from abacus.documents.form.example import example
from abacus.signals.events.decide.source_form import SOURCE_FORM, beside_others
from abacus.signals.events.kind import SOURCES, SourceDesk

SOURCE_REGISTER: Final = Register(
    drafts=DraftKind(
        kind=SOURCES,
        desk=lambda rooms: rooms[SourceDesk],
        about="Says where events stand in the messages of a stream; the next version is in force within a second.",
        begin=lambda _: SOURCES.write(example(SOURCE_FORM)),
        beside=beside_others,
        page=lambda source: f"/events/{source.name}",
        everywhere=True,
    ),
    title="Event sources",
    about="The streams whose events are counted, and that campaigns react to.",
    columns={
        "topic": lambda source: source.topic or "by HTTP alone",
        "types": lambda source: ", ".join(sorted(source.types)),
        "posted by": lambda source: ", ".join(sorted(source.senders)),
    },
)
