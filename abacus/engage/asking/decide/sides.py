"""What a rule about a member who asks may speak of: the country of the request, the member, what is counted of it, and
what services say of it. Pure.
"""

from collections.abc import Collection, Mapping
from typing import Final, Protocol

from abacus.core.fields import Bad, quoted
from abacus.engage.downstreams.decide.question import service_sides
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import MEMBER_SIDES, Catalog, segment_sides
from abacus.signals.facts.decide.counter_sides import CounterSides
from abacus.signals.rules.decide.sides import FactsKind, Resolver, of_facts
from abacus.signals.rules.decide.types import Side

_ELSEWHERE: Final = frozenset({"var", "event", "campaign"})  # origins that other rules have


class Published(Protocol):
    """What is published beside the rule: names of segments, counters by name, and services with their answers."""

    @property
    def segments(self) -> Collection[str]: ...
    @property
    def counters(self) -> Mapping[str, Definition]: ...
    @property
    def externals(self) -> Mapping[str, VariableType]: ...


class _RequestFields:
    """A request has a member and a country: counters by other fields have no key for it."""

    def __init__(self, request: str) -> None:
        self._request = request

    def type_of(self, name: str) -> VariableType:
        raise Bad(f"the counter is kept by {quoted(name)}, which {self._request} does not have")

    def check_has_countries(self) -> None:
        """Every request has the country of what it asks for."""


class RequestSides:
    """The left sides of requests for things of one kind. `thing` begins the left side of its country."""

    def __init__(self, thing: str, request: str) -> None:
        self._request = request
        self._country = f"{thing}.country"
        self._kind = FactsKind(f"{thing}s", {self._country: ("country", VariableType.TEXT)})

    def resolver(self, around: Published) -> Resolver:
        """The left sides, with what is published."""
        resolve = of_facts(self._kind, {})

        def of_request(text: str) -> Side:
            if text.partition(".")[0] in _ELSEWHERE:
                raise Bad(f"{quoted(text)} is no fact of {self._request}; it has {self._country}")
            return resolve(text)

        return self._catalog(around).resolver(of_request)

    def there_are(self, around: Published) -> Mapping[str, VariableType]:
        """The same to choose from, with their types."""
        return {text: type_ for text, (_, type_) in self._kind.fields.items()} | dict(self._catalog(around).types())

    def _catalog(self, around: Published) -> Catalog:
        return Catalog(
            MEMBER_SIDES,
            segment_sides(around.segments),
            CounterSides(around.counters, _RequestFields(self._request)),
            service_sides(around.externals),
        )
