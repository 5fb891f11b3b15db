"""Drafts of journeys: drawn and filled in as a form, told as sentences, and submitted to another person."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from abacus.console.decide.journey_picture import Marks, Picture, picture_of
from abacus.console.pages.drafts.begun import begun_example
from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.journeys.journey_trials import TRIALS, journey_trials
from abacus.documents.form.faults import Placed
from abacus.documents.form.path import read
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.journey_document import toml_of
from abacus.engage.journeys.decide.journey_form import JOURNEY_FORM
from abacus.engage.journeys.decide.journey_reader import restore_journey
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.kind import JOURNEYS

_LASTS: Final = timedelta(days=90)
_NODES: Final = "nodes"


def _approved(document: Mapping[str, Any]) -> Journey:
    return restore_journey(document["journey"], document["version"], {})


def _picture(document: Mapping[str, Any], faults: Placed) -> Picture:
    """With the faults at their nodes."""
    wrong: dict[str, list[str]] = {}
    for at, messages in faults.at.items():
        path = read(at) or ()
        if path[:1] == (_NODES,) and len(path) > 1:
            wrong.setdefault(str(path[1]), []).extend(messages)
    return picture_of(document, Marks(wrong=wrong))


JOURNEY_DRAFTS: Final = DraftKind(
    kind=JOURNEYS,
    desk=lambda rooms: rooms[JourneyDesk],
    about="Each node says what happens there, and where it leads. Another person approves exactly this version.",
    begin=lambda call: toml_of(begun_example(call, JOURNEY_FORM, JOURNEYS.deed, _LASTS)),
    picture=_picture,
    submit="Submit for approval",
    trials=TRIALS,
    trials_around=lambda around: journey_trials(around.beside.sources),
    trials_path="/journey-trials",
    approval=JOURNEYS.approval,
    approved=_approved,
)
