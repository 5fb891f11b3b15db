"""The form of a source's messages: from JSON to an event. Made ready once, as every message goes through it. Pure."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from abacus.core.clock import CLOCKS_DIFFER_BY
from abacus.core.errors import Reason, SetAside
from abacus.signals.events.decide.places import Always, Coordinates, IdPlace, Places, Pointer, Variable
from abacus.signals.events.decide.pointers import Get, Message, getter, taker, taker_if_there
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.values import (
    READERS,
    TIMES,
    Reader,
    Wrong,
    read_country,
    read_id,
    read_member_id,
    read_type,
)
from abacus.signals.events.decide.whereabouts import Locate, whereabouts
from abacus.signals.events.types import Event

OWN_PLACES: Final = Places(
    type=Pointer("/type"),
    id=(Pointer("/id"),),
    time=Pointer("/occurred_at"),
    member=Pointer("/member_id"),
    country=Pointer("/country"),
    coordinates=Coordinates(Pointer("/lat"), Pointer("/lon")),
    regions=Pointer("/regions"),
)

_NOWHERE: Final = Pointer("")


class EventFault(SetAside):
    """An event that does not fit its source, and the place of the fault as a JSON pointer."""

    def __init__(self, pointer: str, message: str, reason: Reason = Reason.INVALID) -> None:
        super().__init__(reason, f"{pointer}: {message}")
        self.pointer = pointer
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        return EventFault, (self.pointer, self.message, self.reason)


class NoType(EventFault):
    """A message without a type where the source has it: it may be of another source of the topic."""


class _Place(NamedTuple):
    """A place in a message, ready to be read."""

    pointer: Pointer
    take: Get  # raises `Wrong`


class _Plan(NamedTuple):
    """The places of the events of one type."""

    id: Get
    variables: Sequence[tuple[str, Get]]
    all: Sequence[_Place]


class Form:
    """Reads the events of a source out of messages of one form; with `only`, the events of these types."""

    def __init__(
        self,
        source: str,
        places: Places,
        variables: Mapping[str, Mapping[str, Variable]],
        *,
        member_needed: bool,
        only: Collection[str] | None = None,
        locate: Locate | None = None,
    ) -> None:
        self._source = source
        self._type = _always(places.type) if isinstance(places.type, Always) else _place(places.type, read_type)
        self._time = _place(places.time, TIMES[places.time_format])
        self._member = _place(places.member, read_member_id, needed=member_needed)
        self._country = _place(places.country, read_country, needed=False)
        self._where = whereabouts(places, locate)
        self._plans = {
            type_: self._planned(places.id_of(type_), of_type)
            for type_, of_type in variables.items()
            if only is None or type_ in only
        }

    def read(self, message: Message, now: datetime) -> Event | None:
        """Nothing for an event of a type that is not taken. Raises `EventFault`."""
        plan = None
        try:
            type_ = self._type.take(message)
            plan = self._plans.get(type_)
            if plan is None:
                return None
            variables = {}
            for name, take in plan.variables:
                value = take(message)
                if value is not None:
                    variables[name] = value
            occurred_at = self._time.take(message)
            event = Event(
                self._source,
                type_,
                plan.id(message),
                self._member.take(message),
                self._country.take(message),
                occurred_at,
                variables,
                self._where.take(message),
            )
        except Wrong:
            if plan is None:
                fault = _fault([self._type], message)
                raise NoType(fault.pointer, fault.message) from None
            raise _fault(plan.all, message) from None
        if occurred_at > now + CLOCKS_DIFFER_BY:
            to_come = f"{occurred_at.isoformat()} is still to come"
            raise EventFault(self._time.pointer.text, to_come, Reason.IN_THE_FUTURE)
        return event

    def has_type(self, message: Message) -> bool:
        """Whether the message has a type where this source has it, be it taken or not."""
        try:
            self._type.take(message)
        except Wrong:
            return False
        return True

    def _planned(self, id_: IdPlace, variables: Mapping[str, Variable]) -> _Plan:
        parts = [_place(pointer, read_id) for pointer in id_]
        whole = parts[0] if len(parts) == 1 else _joined(parts)
        named = {
            name: _place(variable.pointer, READERS[variable.type], needed=False) for name, variable in variables.items()
        }
        where = [_Place(*each) for each in self._where.checks]
        return _Plan(
            whole.take,
            [(name, place.take) for name, place in named.items()],
            [
                *parts,
                whole,
                self._member,
                self._country,
                self._time,
                *named.values(),
                *where,
            ],
        )


def form_of(source: Source, places: Places, only: Collection[str] | None = None, locate: Locate | None = None) -> Form:
    """The form of the messages of the source's topic."""
    needed = places.member is not None
    return Form(source.name, places, source.variables, member_needed=needed, only=only, locate=locate)


def own_form_of(source: Source, only: Collection[str] | None = None, locate: Locate | None = None) -> Form:
    """The one form in which events of every source are posted and published here."""
    variables = {
        type_: {name: Variable(Pointer(f"/var/{name}"), variable.type) for name, variable in of_type.items()}
        for type_, of_type in source.variables.items()
    }
    needed = source.places is not None and source.places.member is not None
    return Form(source.name, OWN_PLACES, variables, member_needed=needed, only=only, locate=locate)


def _fault(places: Sequence[_Place], message: Message) -> EventFault:
    """The first fault of a message that has one: reading does not keep in mind where it is, because few have any."""
    for pointer, take in places:
        try:
            take(message)
        except Wrong as wrong:
            return EventFault(pointer.text, "missing" if getter(pointer)(message) is None else str(wrong))
    raise AssertionError("the message was at fault before")


def _place(pointer: Pointer | None, read: Reader, *, needed: bool = True) -> _Place:
    if pointer is None:
        return _Place(_NOWHERE, lambda _: None)
    return _Place(pointer, (taker if needed else taker_if_there)(pointer, read))


def _always(type_: Always) -> _Place:
    return _Place(_NOWHERE, lambda _: type_.type)


def _joined(parts: Sequence[_Place]) -> _Place:
    """One id of several parts. No part but the last keeps its colons, so no two ids become one."""
    *before, last = parts

    def take(message: Message) -> Any:
        escaped = [part.take(message).replace("%", "%25").replace(":", "%3A") for part in before]
        return read_id(":".join([*escaped, last.take(message)]))

    return _Place(last.pointer, take)
