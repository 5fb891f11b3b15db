"""Downstreams, as published documents: the latest version is in force until it is retired, by a version of its own."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from abacus.core.fields import Fault
from abacus.documents.decide.version_words import Labels
from abacus.documents.kind import Between, DocumentKind, Table
from abacus.documents.types import Record, Version
from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.engage.downstreams.decide.downstream_document import (
    NAME_PATTERN,
    changes,
    faults_after,
    parse_downstream,
    restore_downstream,
    to_document,
)
from abacus.engage.downstreams.decide.downstream_form import DOWNSTREAM_FORM, downstream_choices
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection


class Allowed(NamedTuple):
    """The addresses that a downstream may have."""

    to_private: bool

    async def look(self, _: Connection) -> "Allowed":
        """It needs no database."""
        return self


async def _read(document: Mapping[str, object], allowed: Allowed) -> Downstream:
    return parse_downstream(document, to_private=allowed.to_private)


def _restore(document: Mapping[str, Any], version: Version) -> Downstream:
    return restore_downstream(document, version.number, retired=version.own["retired"])


def _check(draft: Downstream, latest: Iterable[Downstream], _: Allowed) -> list[Fault]:
    before = next((each for each in latest if each.name == draft.name), None)
    return list(faults_after(before, draft))


def _in_force(history: Sequence[Record[Downstream]], _: datetime) -> Sequence[Record[Downstream]]:
    return [each for each in history[-1:] if not each.document.retired]


def _between(_: Downstream, history: Sequence[Record[Downstream]]) -> Between[Downstream]:
    return next((each for each in history[-1:] if not each.document.retired), None), None


DOWNSTREAMS: Final[DocumentKind[Downstream, Allowed]] = DocumentKind(
    word="downstream",
    plural="downstreams",
    noun="downstream",
    command="downstreams",
    subject="downstream",
    deed=Deed.PUBLISH_DOWNSTREAMS,
    table=Table("downstream", "name", own=("retired",)),
    name_field="name",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=lambda downstream: [(name, str(value)) for name, value in to_document(downstream).items()],
    compare=changes,
    check=_check,
    key=lambda downstream: downstream.name,
    name=lambda downstream: downstream.name,
    split_label=Labels("downstream", NAME_PATTERN, "coupons").split,
    own=lambda downstream: {"retired": downstream.retired},
    between=_between,
    standing=_in_force,
    form=DOWNSTREAM_FORM,
    choices=downstream_choices,
)
