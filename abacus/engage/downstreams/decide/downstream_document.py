"""Documents of downstreams: read with every fault at once, written, and compared. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from abacus.core import fields
from abacus.core.errors import Refused
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, quoted, string
from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind, Otherwise, Service
from abacus.platform.delivery.decide.addresses import checked_url
from abacus.platform.pace.decide.pace import Pace, read_rate, silent_hour
from abacus.signals.events.types import VariableType

OWN: Final = (
    "awards",
    "messages",
    "events",
    "invitations",
    "redemptions",
)  # the ways out that are there from the start
MOST_AT_ONCE: Final = 1_000
SHORTEST: Final = timedelta(milliseconds=10)
LONGEST: Final = timedelta(seconds=10)

NAME_PATTERN: Final = "[a-z][a-z0-9_]{0,39}"
_NAME: Final = re.compile(NAME_PATTERN)
_LENGTH: Final = re.compile("([1-9][0-9]{0,4})(ms|s)")
_UNITS: Final = {"ms": timedelta(milliseconds=1), "s": timedelta(seconds=1)}
_STAND_IN: Final = Service(VariableType.BOOLEAN, timedelta(seconds=1), 100, Otherwise.FALSE)


def parse_downstream(document: Mapping[str, object], *, to_private: bool) -> Downstream:
    """The downstream of a document. Raises `DocumentFaults` with every fault that it has."""
    faults: list[Fault] = []
    top = Fields(document, "", faults)
    kind = top.read("kind", fields.one_of(DownstreamKind, "a kind of downstreams"), DownstreamKind.OWN)
    name = top.read("name", _own_name if kind is DownstreamKind.OWN and "kind" in document else _free_name, "")
    url = (
        None if kind is DownstreamKind.OWN else top.read("url", lambda value: _url(value, to_private=to_private), None)
    )
    service = _service(top) if kind is DownstreamKind.EXTERNAL else None
    zone = top.read_if_there("zone", fields.time_zone, "UTC")
    text = top.read_if_there("pace", string, None)
    pace = top.read_if_there("pace", lambda value: _pace(string(value), zone), None)
    if kind is DownstreamKind.OWN and "pace" not in document:
        top.note("pace", "missing; that is all that one of our own has")
    if "zone" in document and "pace" not in document:
        top.note("zone", "there is no pace whose hours it could tell")
    top.refuse_unknown()
    if faults:
        raise DocumentFaults(faults)
    return Downstream(name, kind, url, service, text, zone, pace)


def restore_downstream(document: Mapping[str, object], version: int, *, retired: bool) -> Downstream:
    """A published version, whatever addresses are allowed today. Raises `DocumentFaults`."""
    return replace(parse_downstream(document, to_private=True), version=version, retired=retired)


def to_document(downstream: Downstream) -> dict[str, object]:
    """As `parse_downstream` reads it."""
    document: dict[str, object] = {"name": downstream.name, "kind": downstream.kind.value}
    if downstream.url is not None:
        document["url"] = downstream.url
    if (service := downstream.service) is not None:
        document["type"] = service.answers.value
        document["timeout"] = _length_text(service.within)
        document["at_once"] = service.at_once
        document["otherwise"] = service.otherwise.value
    if downstream.pace_text is not None:
        document["pace"] = downstream.pace_text
        document["zone"] = downstream.zone
    return document


def faults_after(before: Downstream | None, draft: Downstream) -> Iterator[Fault]:
    """What may not change from one version to the next: rules of campaigns were read by it."""
    if before is None:
        return
    if before.kind is not draft.kind:
        yield Fault("kind", f"{before.label} is of the kind {before.kind}, and that never changes; take another name")
    if before.service and draft.service and before.service.answers is not draft.service.answers:
        yield Fault(
            "type", f"{before.label} answers with {before.service.answers}, and that never changes; take another name"
        )


def changes(before: Downstream | None, draft: Downstream) -> list[str]:
    """One line a change; none where both say the same."""
    now = to_document(draft)
    if before is None or before.retired:
        return [f"first version of {draft.name}", *(f"{name}: {value}" for name, value in now.items())]
    was = to_document(before)
    return [
        f"{name}: {was.get(name, 'nothing')} → {now.get(name, 'nothing')}"
        for name in {**was, **now}
        if was.get(name) != now.get(name)
    ]


def _service(top: Fields) -> Service:
    return Service(
        answers=top.read("type", fields.one_of(VariableType, "a type of values"), _STAND_IN.answers),
        within=top.read_if_there("timeout", _length, _STAND_IN.within),
        at_once=top.read_if_there("at_once", fields.whole(1, MOST_AT_ONCE), _STAND_IN.at_once),
        otherwise=top.read("otherwise", fields.one_of(Otherwise, "a policy"), _STAND_IN.otherwise),
    )


def _free_name(value: object) -> str:
    name = string(value)
    if not _NAME.fullmatch(name):
        raise Bad(f"{quoted(name)} is not a name; write at most 40 small letters, digits and underscores")
    if name in OWN:
        raise Bad(f"{name} is one of our own; its kind is {DownstreamKind.OWN}")
    return name


def _own_name(value: object) -> str:
    name = string(value)
    if name not in OWN:
        raise Bad(f"{quoted(name)} is none of our own; those are {', '.join(OWN)}")
    return name


def _url(value: object, *, to_private: bool) -> str:
    try:
        return checked_url(string(value), to_private=to_private)
    except Refused as fault:
        raise Bad(str(fault)) from None


def _length(value: object) -> timedelta:
    match = _LENGTH.fullmatch(string(value))
    length = int(match[1]) * _UNITS[match[2]] if match else timedelta(0)
    if not SHORTEST <= length <= LONGEST:
        raise Bad(f"{quoted(string(value))} is not a time from 10ms to 10s, such as 800ms")
    return length


def _length_text(length: timedelta) -> str:
    whole, rest = divmod(length, timedelta(seconds=1))
    return f"{length // timedelta(milliseconds=1)}ms" if rest else f"{whole}s"


def _pace(text: str, zone: str) -> Pace:
    rates = []
    for entry in filter(None, (each.strip() for each in text.split(","))):
        try:
            rates.append(read_rate(entry))
        except Refused as fault:
            raise Bad(f"{quoted(entry)}: {fault}") from None
    if (hour := silent_hour(rates)) is not None:
        raise Bad(f"nothing is said of {hour}:00; add an entry without hours, such as 10/s, or 0/s")
    return Pace(tuple(rates), ZoneInfo(zone))
