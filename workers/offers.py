"""Serves the offers of members, with the probes of its process, on ABACUS_OFFERS_HOST:ABACUS_OFFERS_PORT."""

from typing import Final

from abacus.api.offers.wiring import offers
from abacus.bootstrap import Service

NEEDS: Final = frozenset({Service.DATABASE})
wire = offers
