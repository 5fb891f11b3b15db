"""What is kept beside a place, so that an answer does not find it out again. Pure."""

from typing import NamedTuple

from abacus.engage.nearby.decide.meaning import Meaning, Priced
from abacus.engage.nearby.decide.territory import Territory
from abacus.signals.places.decide.place import Door


class Footing(NamedTuple):
    """What the meanings of places in a country follow from, beside the places: as long as it is the same object, they
    stand. `changes` is how often the keys have changed that offers speak of.
    """

    territory: Territory
    priced: Priced | None
    changes: int


class Note:
    """A place, as an answer has it. `meaning` is None where no rate card is in force in its country."""

    __slots__ = ("country", "door", "footing", "meaning", "written")

    def __init__(
        self, country: str, door: Door | None, footing: Footing, meaning: Meaning | None, written: bytes
    ) -> None:
        self.country = country
        self.door = door
        self.footing = footing
        self.meaning = meaning
        self.written = written
