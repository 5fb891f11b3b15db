"""A member's way, walked again by the values that were looked up then: so each decision can be told. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from abacus.engage.journeys.decide.armed import Armed
from abacus.engage.journeys.decide.looked_up import read
from abacus.engage.journeys.decide.visit import Place, Visitor, Woken
from abacus.engage.journeys.decide.walk import Walk
from abacus.signals.events.decide.values import Wrong


def retraced(
    armed: Armed,
    visitor: Visitor,
    at: datetime,
    *,
    woken: Woken,
    place: Place | None,
    looked: Mapping[str, Any],
    skips: bool,
) -> Walk | None:
    """The walk as it was; None where a value was not kept."""
    walk = Walk(armed, visitor, at, at=place, woken=woken, skips=skips)
    wanted = walk.go({})
    while wanted is not None:
        if wanted.text not in looked:
            return None
        try:
            value = read(looked[wanted.text], wanted.type)
        except Wrong:
            return None
        wanted = walk.go({wanted.text: value})
    return walk
