"""Contact policies, read from documents and written again. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from abacus.core import fields
from abacus.core.fields import COUNTRY_PATTERN, Bad, DocumentFaults, Fields, quoted, string
from abacus.core.lengths import read_clock
from abacus.core.local_clock import QuietHours
from abacus.documents.decide.texts import faults_of_text
from abacus.documents.decide.version_words import Labels
from abacus.engage.notify.decide.contact_policy import Cap, Capped, ContactPolicy, MessageKind
from abacus.engage.notify.decide.message import ChannelName

LABELS: Final = Labels("contact policy", COUNTRY_PATTERN, "SG")
CAP_PATTERN: Final = r"([1-9][0-9]{0,3} a day(, [1-9][0-9]{0,3} a week)?|[1-9][0-9]{0,3} a week)"
LARGEST_HOLDOUT: Final = 50
LONGEST_PATIENCE: Final = 7

_CAP: Final = re.compile(r"(?:(?P<day>[1-9][0-9]{0,3}) a day)?(?:, )?(?:(?P<week>[1-9][0-9]{0,3}) a week)?")
_channel: Final = fields.one_of(ChannelName, "a channel")
_kind: Final = fields.one_of(MessageKind, "a kind of messages")


def parse_policy(document: Mapping[str, object]) -> ContactPolicy:
    """Raises `DocumentFaults` with every fault of a document."""
    faults = faults_of_text(document)
    top = Fields(document, "", faults)
    policy = ContactPolicy(
        country=top.read("country", fields.country, ""),
        timezone=top.read("timezone", fields.time_zone, "UTC"),
        quiet_hours=top.read_if_there("quiet_hours", _quiet_hours, None),
        holdout=top.read_if_there("holdout", fields.whole(1, LARGEST_HOLDOUT), 0),
        patience_days=top.read_if_there("patience_days", fields.whole(0, LONGEST_PATIENCE), 0),
        caps=_caps(top.table("caps", optional=True)),
    )
    if "patience_days" in document and "caps" not in document:
        top.note("patience_days", "there is no cap for which a message could wait")
    top.refuse_unknown()
    if faults:
        raise DocumentFaults(faults)
    return policy


def to_document(policy: ContactPolicy) -> dict[str, object]:
    """As `parse_policy` reads it."""
    document: dict[str, object] = {"country": policy.country, "timezone": policy.timezone}
    if policy.quiet_hours is not None:
        document["quiet_hours"] = str(policy.quiet_hours)
    if policy.holdout:
        document["holdout"] = policy.holdout
    if policy.patience_days:
        document["patience_days"] = policy.patience_days
    caps: dict[str, dict[str, str]] = {}
    for (channel, kind), cap in policy.caps.items():
        caps.setdefault(channel.value, {})[kind.value] = str(cap)
    if caps:
        document["caps"] = caps
    return document


def described(policy: ContactPolicy) -> Iterator[tuple[str, str]]:
    """Each part with its path, in words."""
    for name, value in to_document(policy).items():
        if name == "holdout":
            yield name, f"{value} % of members"
        elif name == "patience_days":
            yield name, f"{value} day(s)"
        elif isinstance(value, str):
            yield name, value
    for (channel, kind), cap in policy.caps.items():
        yield f"caps.{channel}.{kind}", str(cap)


def _caps(table: Fields) -> dict[Capped, Cap]:
    if table.is_absent:
        return {}
    caps: dict[Capped, Cap] = {}
    for channel, of_kinds in table.tables(_channel, at_most=len(ChannelName)).items():
        for kind in of_kinds.names(_kind, at_most=len(MessageKind)):
            cap = of_kinds.read(kind, _cap, None)
            if cap is not None and channel in set(ChannelName) and kind in set(MessageKind):
                caps[Capped(ChannelName(channel), MessageKind(kind))] = cap
    return caps


def _cap(value: object) -> Cap:
    text = string(value)
    match = _CAP.fullmatch(text)
    cap = Cap(*(int(each) if each else None for each in match.groups())) if match else Cap(None, None)
    if str(cap) != text or not text:
        raise Bad(f"{quoted(text)} is not a cap; write 3 a day, 10 a week, or both: 3 a day, 10 a week")
    if cap.a_day is not None and cap.a_week is not None and cap.a_week <= cap.a_day:
        raise Bad(f"{quoted(text)}: the day could never come to its cap; write more a week than a day")
    return cap


def _quiet_hours(value: object) -> QuietHours:
    begin, dash, end = string(value).partition("-")
    if not dash:
        raise Bad(f"{quoted(string(value))} are no quiet hours; write two clock times, such as 21:00-08:00")
    begins, ends = read_clock(begin), read_clock(end)
    if begins == ends:
        raise Bad(f"{quoted(string(value))} leaves no time at all")
    return QuietHours(begins, ends)
