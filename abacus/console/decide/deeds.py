"""What was done, in words that people say. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from abacus.people.types.deed import Deed, Entry

_DONE: Final[Mapping[str, str]] = {
    Deed.ADJUST: "adjusted points of",
    Deed.REVERSE: "took back points of",
    Deed.MOVE_POINTS: "moved points of",
    Deed.SET_TIERS: "set the tier of",
    Deed.EDIT_RATES: "drafted rates of",
    Deed.PUBLISH_RATES: "published rates of",
    Deed.PUBLISH_SOURCES: "published the source",
    Deed.PUBLISH_COUNTERS: "published the counter",
    Deed.EDIT_CAMPAIGNS: "changed the campaign",
    Deed.PUBLISH_DOWNSTREAMS: "changed the downstream",
    Deed.PUBLISH_SEGMENTS: "changed the segment",
    Deed.EDIT_PARTNERS: "changed the partner",
    Deed.EDIT_LIMITS: "changed limits of",
    Deed.APPROVE: "decided on",
    Deed.CLOSE_BOOKS: "worked on the month",
    Deed.SET_ASSUMPTIONS: "set assumptions for",
    Deed.RUN_JOBS: "ran",
    Deed.REPLAY: "replayed",
    Deed.IMPORT: "imported",
    Deed.ERASE: "erased",
    Deed.MANAGE_PEOPLE: "changed the person",
}
_PLACES: Final[Mapping[str, str]] = {"member": "/members/", "partner": "/partners/", "campaign": "/campaigns/"}

_APPROVAL: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Change:
    """Deeds of one actor to one subject, the newest of them then. `path` is the subject's page, where it has one."""

    at: datetime
    actor: str
    did: str
    subject: str
    path: str | None
    country: str | None
    times: int = 1


def changes_of(entries: Iterable[Entry], own: str) -> list[Change]:
    """What others did, the newest first; `own` is the source of the reader."""
    found: dict[tuple[str, str, str], Change] = {}
    for each in entries:
        if each.actor == own:
            continue
        key = (each.actor, each.deed, each.subject)
        if key in found:
            found[key] = replace(found[key], times=found[key].times + 1)
        else:
            found[key] = _change(each)
    return list(found.values())


def _change(entry: Entry) -> Change:
    if _APPROVAL.fullmatch(entry.subject):
        path = f"/approvals/{entry.subject}"
        return Change(entry.at, entry.actor, "asked for or gave", "an approval", path, entry.country)
    kind, colon, name = entry.subject.partition(":")
    subject = name if colon else entry.subject
    place = _PLACES.get(kind) if colon else None
    did = _DONE.get(entry.deed, entry.deed.replace("-", " "))
    return Change(entry.at, entry.actor, did, subject, place and place + subject, entry.country)
