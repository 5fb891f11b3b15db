"""Versions of campaigns that were in force, and the approvals that let them. Pure."""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class InForce(NamedTuple):
    """A version that was in force: its document, and who approved it as it says itself."""

    name: str
    version: int
    document: str
    approved_by: str | None


class Agreed(NamedTuple):
    """An approval of the campaign that took effect: who decided, and the text that was agreed to."""

    decided_by: str | None
    document: str


def faults_of_campaign(campaign: InForce, agreed: Iterable[Agreed]) -> Iterator[str]:
    """The faults of a version, beside all approvals of its campaign that took effect."""
    by = campaign.approved_by
    if by is None:
        yield "it was in force, and nobody approved it"
        return
    content = {"campaign": json.loads(campaign.document), "version": campaign.version}
    documents = [each.document for each in agreed if each.decided_by == by]
    if not documents:
        yield f"{by} approved it, it says, and no approval of {by} lets it run"
    elif content not in list(map(_read, documents)):
        yield f"it is not what {by} approved"


def _read(document: str) -> object:
    try:
        return json.loads(document)
    except ValueError:
        return None
