"""Journeys, as published documents: each version has a state, and takes members in once a second person has approved
it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from abacus.core.fields import Fault
from abacus.documents.stated import StatedKind, stated_table
from abacus.documents.types import Version
from abacus.engage.journeys.decide.cycles import cycle_through
from abacus.engage.journeys.decide.journey import LABELS, Journey
from abacus.engage.journeys.decide.journey_choices import journey_choices
from abacus.engage.journeys.decide.journey_document import described, to_document, to_toml, toml_of
from abacus.engage.journeys.decide.journey_form import JOURNEY_FORM
from abacus.engage.journeys.decide.journey_reader import parse_journey, restore_journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.people.types.approval import ApprovalKind
from abacus.people.types.deed import Deed

_NUMBERS: Final = "(select jsonb_object_agg(n.node, n.number)::text from journey_node n where n.journey = d.name)"
_NONE: Final = "{}"  # of a version that is only being written


async def _read(document: Mapping[str, object], around: JourneyPublications) -> Journey:
    return parse_journey(document, around)


def _restore(document: Mapping[str, Any], version: Version) -> Journey:
    """It takes nobody in for what happened before it was approved."""
    numbers = json.loads(version.own.get("numbers") or _NONE)
    journey, approved_at = restore_journey(document, version.number, numbers), version.own["approved_at"]
    return journey if approved_at is None else replace(journey, approved_at=approved_at)


def _circles(journey: Journey, others: Iterable[Journey], around: JourneyPublications) -> list[Fault]:
    cycle = cycle_through(journey, others, around.beside.rewards)
    if cycle is None:
        return []
    return [Fault(f"nodes.{cycle.node}.do", f"would start itself without end: {' → '.join(cycle.stops)}")]


JOURNEYS: Final[StatedKind[Journey, JourneyPublications]] = StatedKind(
    word="journey",
    plural="journeys",
    noun="journey",
    command="journeys",
    subject="journey",
    deed=Deed.EDIT_JOURNEYS,
    table=stated_table("journey", "name")._replace(told={"numbers": _NUMBERS}),
    name_field="name",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    key=lambda journey: journey.name,
    name=lambda journey: journey.name,
    split_label=LABELS.split,
    country=lambda journey: journey.country,
    toml=to_toml,
    write=toml_of,
    form=JOURNEY_FORM,
    choices=journey_choices,
    approval=ApprovalKind.JOURNEY,
    late=timedelta(days=1),  # events that come so long after the end of a journey still let members enter
    check=_circles,
)
