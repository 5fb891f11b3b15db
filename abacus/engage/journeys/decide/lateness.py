"""Whether it is too late for what was due. Pure."""

from datetime import datetime
from typing import Final

from abacus.engage.journeys.decide.journey import Late, Lateness

HELD_UP: Final = "held up by a pause"
TOO_LATE: Final = "too late"


def why_not_done(lateness: Lateness, due: datetime, now: datetime, *, resumed_at: datetime | None) -> str | None:
    """Why the deeds are not done to which a member comes now who was due then; None where they are. `resumed_at` is
    when the journey went on after its last pause: what is done only now and was due before that, was held up by it.
    """
    if lateness.late is Late.SKIP and resumed_at is not None and due < resumed_at:
        return HELD_UP
    if lateness.not_later_than is not None and now - due > lateness.not_later_than:
        return TOO_LATE
    return None
