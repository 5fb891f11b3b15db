"""Whether it is too late for what was due. Pure."""

from datetime import datetime

from abacus.engage.journeys.decide.journey import Late, Lateness


def is_too_late(lateness: Lateness, due: datetime, now: datetime, *, paused: bool) -> bool:
    """Whether the deeds are not done to which a member comes now who was due then. `paused` says whether the journey
    was paused when that was.
    """
    if paused and lateness.late is Late.SKIP:
        return True
    return lateness.not_later_than is not None and now - due > lateness.not_later_than
