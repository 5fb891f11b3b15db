"""A version of a document with states, as lists and pages show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from abacus.console.decide.bars import Bar


@dataclass(frozen=True)
class StatedRow:
    """`told` has a few words of the kind's own, by what they are about; `used` is what all members used of its limits
    and stocks.
    """

    name: str
    version: int
    about: str
    country: str
    state: str
    told: Mapping[str, str]
    starts_at: datetime
    ends_at: datetime
    changed_at: datetime
    changed_by: str
    used: Sequence[Bar] = ()
