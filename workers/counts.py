"""Serves lookups of counters, with the probes of its process, on ABACUS_COUNTS_HOST:ABACUS_COUNTS_PORT."""

from typing import Final

from abacus.api.lookups.wiring import lookups
from abacus.bootstrap import Service

NEEDS: Final = frozenset({Service.DATABASE})
wire = lookups
