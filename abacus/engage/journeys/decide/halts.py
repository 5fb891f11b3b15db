"""What halts journeys. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

ENDED: Final = "the journey was ended"
OVER: Final = "the journey is over"

JourneyVersion: TypeAlias = tuple[str, int]  # the name and the number


@dataclass(frozen=True, slots=True)
class Halts:
    """When journeys went on after their last pauses, by their names; the versions that people have ended; and the time
    of the end of versions that members leave then. Nothing more is done for members on a version that is over.
    """

    resumed_at: Mapping[str, datetime] = field(default_factory=dict)
    ended: Collection[JourneyVersion] = frozenset()
    stops_at: Mapping[JourneyVersion, datetime] = field(default_factory=dict)

    def why_over(self, version: JourneyVersion, now: datetime) -> str | None:
        """None of a version on which members may be."""
        if version in self.ended:
            return ENDED
        stops_at = self.stops_at.get(version)
        return None if stops_at is None or now < stops_at else OVER

    def over(self, now: datetime) -> list[JourneyVersion]:
        """The versions that are over."""
        return [*self.ended, *(each for each, at in self.stops_at.items() if at <= now and each not in self.ended)]


NO_HALTS: Final = Halts()
