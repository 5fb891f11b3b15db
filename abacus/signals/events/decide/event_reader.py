"""From the bytes of a message to an event. Pure."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

import orjson

from abacus.core.errors import Reason, SetAside
from abacus.intake.earning.decide.transaction import read_transaction
from abacus.platform.json_names import check_names_read
from abacus.signals.events.decide.form import OWN_PLACES, EventFault, Form, NoType, form_of, own_form_of
from abacus.signals.events.decide.places import Places
from abacus.signals.events.decide.source import TRANSACTIONS, Source, substream_topic
from abacus.signals.events.decide.whereabouts import Locate, without_coordinates
from abacus.signals.events.types import Event

MAX_BYTES: Final = 1024 * 1024  # what a broker takes, unless it is told otherwise

Only = Mapping[str, Collection[str]]

_LEFT_OUT: Final = "left_out"

_OWN: Final = "events"  # a topic of events in our own form, whatever its name


class EventReader:
    """Reads the messages of one topic, by the sources that name it, and of a sub-stream, by its source. On the events
    topic, which has the events of every source in one form, by all sources.

    `only` has the types that are wanted, by source. Other events are passed over, and so is a message without a value.
    A message is one event at most: where several sources name the topic, of the first of them that takes its type.
    Without a type it is at fault where every one of them misses it, also a source of which nothing is wanted. A message
    of the transactions topic that is none is passed over: the calculator sets it aside, and once is enough.

    Without `locate` no event is known to have happened anywhere by its coordinates.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        topic: str,
        *,
        events_topic: str,
        only: Only | None = None,
        locate: Locate | None = None,
    ) -> None:
        wanted = [(source, None if only is None else only.get(source.name, ())) for source in sources]
        self._own: dict[str, Form] | None = None
        self._only = only
        self._forms: list[Form] = []
        self._others: list[Form] = []
        self._locate = locate
        self._placed: list[Places] = []  # that say where an event happened
        self._of_transactions = any(each.name == TRANSACTIONS and each.topic == topic for each, _ in wanted)
        if topic == events_topic:
            self._placed = [OWN_PLACES]
            of_wanted = ((source, types) for source, types in wanted if types is None or types)
            self._own = {source.name: own_form_of(source, types, locate) for source, types in of_wanted}
            return
        for source, types in sorted(wanted, key=lambda each: each[0].name):
            if source.places is not None and _has(source, topic, events_topic):
                forms = self._forms if types is None or types else self._others
                forms.append(form_of(source, source.places, types, locate))
                self._placed += [source.places] if source.places.coordinates is not None else []

    def read(self, value: bytes, now: datetime) -> Event | None:
        """Nothing for an event that is not taken. Raises `SetAside`: `EventFault` where one place is at fault."""
        if not value:
            return None
        try:
            return self._read(value, now)
        except SetAside:
            if self._of_transactions and not _is_transaction(value):
                return None
            raise

    def kept(self, value: bytes) -> bytes:
        """What may be kept of a message: all of it, but its regions in the place of coordinates."""
        if not self._placed or (self._own is not None and not _mentions_coordinates(value)):
            return value
        try:
            message = dict(_decoded(value))
        except SetAside:  # nobody knows what it says
            return orjson.dumps({_LEFT_OUT: f"{len(value)} bytes that may say where a member was"})
        for places in self._placed:
            without_coordinates(message, places, self._locate)
        return orjson.dumps(message)

    def _read(self, value: bytes, now: datetime) -> Event | None:
        message = _decoded(value)
        if self._own is not None:
            return self._read_own(message, self._own, now)
        if len(self._forms) == 1 and not self._others:
            return self._forms[0].read(message, now)
        return self._read_first(message, now)

    def _read_own(self, message: Mapping[str, Any], forms: Mapping[str, Form], now: datetime) -> Event | None:
        name = message.get("source")
        if not isinstance(name, str):
            raise EventFault("/source", "missing" if name is None else "not the name of a source")
        form = forms.get(name)
        if form is not None:
            return form.read(message, now)
        if self._only is None:
            raise EventFault("/source", f"no source {name[:40]!r} is published", Reason.UNKNOWN_SOURCE)
        return None

    def _read_first(self, message: Mapping[str, Any], now: datetime) -> Event | None:
        """A message without a type is at fault only where every source misses it. One of a type that a source takes is
        that source's, with its faults.
        """
        first_fault = None
        is_of_some_source = False
        for form in self._forms:
            try:
                event = form.read(message, now)
            except NoType as fault:
                first_fault = first_fault or fault
            else:
                is_of_some_source = True
                if event is not None:
                    return event
        if first_fault and not is_of_some_source and not any(other.has_type(message) for other in self._others):
            raise first_fault
        return None


def own_reader(sources: Iterable[Source]) -> EventReader:
    """Reads events as Abacus publishes them."""
    return EventReader(sources, _OWN, events_topic=_OWN)


def _has(source: Source, topic: str, events_topic: str) -> bool:
    """Whether the topic has the source's messages: it is its own, or its sub-stream."""
    return topic == source.topic or (source.substream and topic == substream_topic(source.name, events_topic))


def _mentions_coordinates(value: bytes) -> bool:
    """Whether an event in Abacus' own form may have them, also one that is no JSON; JSON may write any letter so."""
    return b"lat" in value or b"lon" in value or b"\\" in value


def _is_transaction(value: bytes) -> bool:
    try:
        read_transaction(value)
    except SetAside:
        return False
    return True


def _decoded(value: bytes) -> Mapping[str, Any]:
    if len(value) > MAX_BYTES:
        raise SetAside(Reason.UNDECODABLE, f"{len(value)} bytes; an event has at most {MAX_BYTES}")
    try:
        message = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise SetAside(Reason.UNDECODABLE, f"not JSON: {error}") from None
    if not isinstance(message, dict):
        raise SetAside(Reason.INVALID, "not a JSON object")
    check_names_read(value, message)
    return message
