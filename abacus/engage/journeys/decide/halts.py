"""What halts journeys. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Halts:
    """When journeys went on after their last pauses, by their names."""

    resumed_at: Mapping[str, datetime] = field(default_factory=dict)


NO_HALTS = Halts()
