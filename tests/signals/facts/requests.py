"""A request: facts that are no event."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from abacus.signals.events.types import Value, VariableType
from abacus.signals.rules.decide.sides import FactsKind


class Request(NamedTuple):
    """Somebody asks what there is for a member, at a placement."""

    placement: str
    member_id: str | None
    country: str | None
    variables: Mapping[str, Value]


REQUESTS: Final = FactsKind(
    "the requests",
    {
        "request.placement": ("placement", VariableType.TEXT),
        "request.member_id": ("member_id", VariableType.TEXT),
        "request.country": ("country", VariableType.TEXT),
    },
)
