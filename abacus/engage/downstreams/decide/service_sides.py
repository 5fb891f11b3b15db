"""`external.NAME`: what a service says of an event. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import NamedSides
from abacus.signals.rules.decide.types import Origin

EXTERNAL: Final = Origin("external", cost=50)


def service_sides(answers: Mapping[str, VariableType]) -> NamedSides:
    """The services by name, with the types of their answers."""
    return NamedSides(EXTERNAL, answers, answers.__getitem__, "external service", "abacus downstreams list")
