"""A country of many regions and places, with offers for some of them, and phones that ask where they are."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from abacus.engage.limits.types import Limits
from abacus.engage.offers.decide.offer import Benefit, BenefitKind, Offer, Payer, Scope, Values
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.point import point
from abacus.signals.places.decide.region import Region
from benchmarks.region_examples import net

COUNTRY: Final = "SG"
SIDE: Final = 71  # regions along a side of the country
_SIZE: Final = 0.05  # of a region, in degrees
_SOUTH_WEST: Final = (100.0, 1.0)
_JAGS: Final = 4
_MERCHANTS: Final = 5_000
_BRANDS: Final = 800
_CATEGORIES: Final = 40
_HOURS: Final = ("Mo-Su 08:00-22:00", "24/7", "Mo-Fr 09:00-18:00; Sa 10:00-14:00; PH off", None)
_HOMES: Final = 20_000  # points at which phones are most of the time
_NOISE: Final = 0.0002  # degrees: some twenty metres


def regions(seed: int) -> list[Region]:
    """They tile the country; another seed draws other borders."""
    return list(net(SIDE, SIDE, south_west=_SOUTH_WEST, size=_SIZE, jags=_JAGS, seed=seed))


def places(number: int) -> Iterator[Place]:
    drawn = random.Random(number)
    for each in range(number):
        merchant = min(int(drawn.paretovariate(0.6)), _MERCHANTS)
        category = drawn.randrange(_CATEGORIES)
        lon, lat = _anywhere(drawn)
        yield Place(
            id=f"place-{each}",
            name=f"Shop {each} of {merchant}",
            point=point(lat, lon),
            country=COUNTRY,
            merchant=f"m-{merchant}",
            brand=f"b-{merchant % _BRANDS}",
            categories=(f"wide-{category % 8}", f"narrow-{category}"),
            hours=drawn.choice(_HOURS),
        )


def offers(number: int, of_places: int) -> Iterator[Offer]:
    """Of merchants and of regions two fifths each, of places and of categories in regions a tenth each. A chain has
    many places, and no more offers than others.
    """
    drawn, now = random.Random(number), datetime.now(UTC)
    for each in range(1, number + 1):
        yield Offer(
            name=f"offer_{each}",
            country=COUNTRY,
            timezone="Asia/Singapore",
            starts_at=now - timedelta(days=1),
            ends_at=now + timedelta(days=drawn.randrange(2, 60)),
            benefit=Benefit(BenefitKind.PERCENT, Decimal(drawn.randrange(5, 40))),
            scope=_scope(drawn, each % 10, of_places),
            limits=Limits(),
            payer=Payer("cost_centre", "marketing"),
            hours=((11 * 60, 14 * 60),) if each % 13 == 0 else (),
            currency="SGD",
            version=1,
            number=each,
        )


def _scope(drawn: random.Random, kind: int, of_places: int) -> Scope:
    region = frozenset({f"zone-{drawn.randrange(SIDE * SIDE)}"})
    if kind < 4:  # noqa: PLR2004  # two fifths
        return Scope(values=Values(merchants=frozenset({f"m-{drawn.randrange(_MERCHANTS)}"})))
    if kind < 8:  # noqa: PLR2004  # and two more
        return Scope(everything=True, values=Values(regions=region))
    if kind == 8:  # noqa: PLR2004  # the last two
        return Scope(everything=True, values=Values(places=frozenset({f"place-{drawn.randrange(of_places)}"})))
    return Scope(values=Values(categories=frozenset({f"narrow-{drawn.randrange(_CATEGORIES)}"}), regions=region))


def queries(number: int) -> Iterator[bytes]:
    """Phones at some homes more often than at others, each time a few metres away, with fourteen decimals."""
    drawn = random.Random(7)
    homes = [_anywhere(drawn) for _ in range(_HOMES)]
    for _ in range(number):
        lon, lat = homes[min(int(drawn.paretovariate(0.5)), _HOMES) - 1]
        yield f"lat={lat + drawn.gauss(0, _NOISE):.14f}&lon={lon + drawn.gauss(0, _NOISE):.14f}".encode()


def _anywhere(drawn: random.Random) -> tuple[float, float]:
    """Within the country."""
    west, south = _SOUTH_WEST
    across = SIDE * _SIZE
    return west + 0.1 + drawn.random() * (across - 0.2), south + 0.1 + drawn.random() * (across - 0.2)
