"""What is published beside a counter, by which it is judged. Pure."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from abacus.signals.events.decide.source import Source
from abacus.signals.rules.decide.names import ANY_NAME


class CounterPublications(NamedTuple):
    """Sources by name, and the ids of regions; any, where these are not known."""

    sources: Mapping[str, Source]
    regions: Collection[str] = ANY_NAME
