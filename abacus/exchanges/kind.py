"""Programmes, as published documents: each version has a state, and holds once a second person has approved it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from abacus.documents.stated import StatedKind, stated_table
from abacus.documents.types import Version
from abacus.exchanges.decide.programme import LABELS, Programme
from abacus.exchanges.decide.programme_document import described, to_document, to_toml
from abacus.exchanges.decide.programme_form import PROGRAMME_FORM, programme_choices
from abacus.exchanges.decide.programme_reader import parse_programme, restore_programme
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.people.types.approval import ApprovalKind
from abacus.people.types.deed import Deed


async def _read(document: Mapping[str, object], around: ExchangePublications) -> Programme:
    return parse_programme(document, around)


def _restore(document: Mapping[str, Any], version: Version) -> Programme:
    programme, approved_at = restore_programme(document, version.number), version.own["approved_at"]
    return programme if approved_at is None else replace(programme, approved_at=approved_at)


PROGRAMMES: Final[StatedKind[Programme, ExchangePublications]] = StatedKind(
    word="programme",
    plural="exchange-programmes",
    noun="exchange programme",
    command="exchanges",
    subject="programme",
    deed=Deed.EDIT_EXCHANGES,
    table=stated_table("exchange_programme", "name"),
    name_field="name",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    key=lambda programme: programme.name,
    name=lambda programme: programme.name,
    split_label=LABELS.split,
    country=lambda programme: programme.country,
    toml=to_toml,
    form=PROGRAMME_FORM,
    choices=programme_choices,
    approval=ApprovalKind.EXCHANGE_PROGRAMME,
)
