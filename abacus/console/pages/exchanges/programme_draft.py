"""Drafts of programmes: filled in as a form, told as sentences, and submitted to another person."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from abacus.console.pages.drafts.begun import begun_example
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.core.document_text import write_toml
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programme_form import PROGRAMME_FORM
from abacus.exchanges.decide.programme_reader import restore_programme
from abacus.exchanges.desk import ProgrammeDesk
from abacus.exchanges.kind import PROGRAMMES

_LASTS: Final = timedelta(days=365)


def _approved(document: Mapping[str, Any]) -> Programme:
    return restore_programme(document["programme"], document["version"])


PROGRAMME_DRAFTS: Final = DraftKind(
    kind=PROGRAMMES,
    desk=lambda rooms: rooms[ProgrammeDesk],
    about="Checked by what is published now. Another person approves exactly this version.",
    begin=lambda call: write_toml(begun_example(call, PROGRAMME_FORM, PROGRAMMES.deed, _LASTS)),
    submit="Submit for approval",
    approval=PROGRAMMES.approval,
    approved=_approved,
)
