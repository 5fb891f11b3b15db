"""Serves what is near a point, with the probes of its process, on ABACUS_PLACES_HOST:ABACUS_PLACES_PORT."""

from typing import Final

from abacus.api.nearby.wiring import places
from abacus.bootstrap import Service

NEEDS: Final = frozenset({Service.DATABASE})
wire = places
