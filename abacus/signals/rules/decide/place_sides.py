"""`place.region` and `place.NAME`: where an event happened. The event itself tells them. Pure."""

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Final, NamedTuple

from abacus.core.fields import Bad
from abacus.signals.events.decide.vocabulary import Vocabulary
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.names import check_named
from abacus.signals.rules.decide.types import FactPlace, Side

PLACE: Final = "place."
_REGION: Final = Side(f"{PLACE}region", VariableType.TEXT, FactPlace.FIELD, "region")
_MOST_OFFERED: Final = 200  # regions to choose from; `place.region` may be compared with any


class PlaceSides(NamedTuple):
    """The left sides about places of events of some types. `check` raises `Bad` where these happen nowhere."""

    regions: Collection[str]
    check: Callable[[], None]

    def side(self, text: str) -> Side:
        """Raises `Bad` for an unknown region."""
        self.check()
        if text == _REGION.text:
            return _REGION
        name = text.removeprefix(PLACE)
        check_named(name, self.regions, "region", "abacus places regions list")
        return Side(text, VariableType.BOOLEAN, FactPlace.REGION, name)

    def there_are(self) -> Iterator[Side]:
        """What a person may choose from."""
        try:
            self.check()
        except Bad:
            return
        yield _REGION
        for name in islice(sorted(self.regions), _MOST_OFFERED):
            yield self.side(PLACE + name)


def places_of(on: Vocabulary, regions: Collection[str]) -> PlaceSides:
    """The left sides of events of these types, beside the regions that there are."""
    return PlaceSides(regions, on.check_has_places)
