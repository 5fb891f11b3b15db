"""Serves the partner award API, with the probes of its process, on ABACUS_API_HOST:ABACUS_API_PORT."""

from typing import Final

from abacus.api.wiring import api
from abacus.bootstrap import Service

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})
USES: Final = frozenset({Service.KAFKA})  # where an address is set; without one no events are posted
wire = api
