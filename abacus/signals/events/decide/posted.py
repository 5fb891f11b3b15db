"""Events that a sender posts: checked against the sources that name the sender. Pure."""

import difflib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from abacus.core.errors import Refused
from abacus.signals.events.decide.form import EventFault, Form, own_form_of
from abacus.signals.events.decide.message import EventMessage, encode_event
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.types import Event

MAX_BYTES: Final = 64 * 1024  # of one posted event, as it is published


class NotASender(Refused):
    """The sender may not post events of this source, if there is such a source."""


class PostedReader:
    """Reads posted events by the sources as they are now. Made ready once for each source."""

    def __init__(self, sources: Mapping[str, Source], locate: Locate | None = None) -> None:
        self.sources = sources
        self._locate = locate
        self._forms: dict[str, Form] = {}

    def read(self, message: EventMessage, sender: str, now: datetime) -> Event:
        """Raises `NotASender`, and `EventFault` for an event that does not fit its source.

        A type or a variable that the source does not list is a fault here: the sender can still mend it.
        """
        source = self.sources.get(message.source)
        if source is None or sender not in source.senders:
            raise NotASender(f"{sender} may not post events of a source {message.source!r}")
        types = source.types.get(message.type)
        if types is None:
            raise EventFault(
                "/type", f"{message.type!r} is no type of {source.name}{_near(message.type, source.types)}"
            )
        for name in message.var:
            if name not in types:
                raise EventFault(f"/var/{name}", f"{message.type} has no such variable{_near(name, types)}")
        if message.regions is not None:
            raise EventFault("/regions", "not for senders to say; write lat and lon")
        event = self._form(source).read(message.as_json(), now)
        if event is None:
            raise EventFault("/type", f"{source.name} does not take it")
        if len(encode_event(event)) > MAX_BYTES:
            raise EventFault("/var", f"more than {MAX_BYTES} bytes")
        return event

    def _form(self, source: Source) -> Form:
        if source.name not in self._forms:
            self._forms[source.name] = own_form_of(source, locate=self._locate)
        return self._forms[source.name]


def _near(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
