"""What is asked about a point, and what is answered. Pure values."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from abacus.engage.nearby.decide.here import Here, OnOffer
from abacus.signals.places.decide.place_index import ANY, USUAL_K, USUAL_RADIUS_M, Sought
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.region import RegionName

# Whether a caller may see places and regions of a country.
MaySee: TypeAlias = Callable[[str], bool]


class NearbyAsk(NamedTuple):
    """The nearest places to a point, with what is sought. `open_now` leaves out places of which nobody knows whether
    they are open. `at_least` is a version of places that the caller knows of.
    """

    point: Point
    k: int = USUAL_K
    radius_m: int = USUAL_RADIUS_M
    open_now: bool = False
    sought: Sought = ANY
    member_id: str | None = None
    at_least: int = 0


class Near(NamedTuple):
    """What an answer says of a place, as it is written there, how far away it is, whether it is open, and what is on
    offer there. `is_open` is None where nobody knows.
    """

    written: bytes
    metres: float
    is_open: bool | None
    here: Here


class Where(NamedTuple):
    """The ids of the regions of a point that the caller may see, in their order. Outside of all of these, the nearest
    one and its distance.
    """

    regions: tuple[str, ...]
    nearest: tuple[RegionName, float] | None = None


class Around(NamedTuple):
    """The places from the nearest on. The answer is as of `age_s` ago."""

    where: Where
    places: Sequence[Near]
    age_s: float
    is_degraded: bool


class Categories(NamedTuple):
    """What is on offer in the regions of the point; outside of all regions there is nothing."""

    where: Where
    on_offer: OnOffer
    age_s: float
    is_degraded: bool
