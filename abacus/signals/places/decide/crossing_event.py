"""A crossing as an event of the source `places`. Pure."""

import hashlib
from typing import Final

from abacus.signals.events.decide.builtin import ENTERED, LEFT, PLACES
from abacus.signals.events.types import Event
from abacus.signals.places.decide.visit import Crossing

_ID_BYTES: Final = 16


def event_of(crossing: Crossing) -> Event:
    """The same position makes the same event, however often it is read. Its id names nobody."""
    member_id, region, entered, at, regions = crossing
    facts = f"{member_id}\x1f{region.id}\x1f{at.isoformat()}"
    return Event(
        source=PLACES,
        type=ENTERED if entered else LEFT,
        id=hashlib.blake2b(facts.encode(), digest_size=_ID_BYTES).hexdigest(),
        member_id=member_id,
        country=region.country,
        occurred_at=at,
        variables={"region": region.id, "kind": region.kind},
        regions=regions,
    )
