"""Counts events: follows the topics of all sources whose events some definition counts."""

from typing import Final

from abacus.bootstrap import Service
from abacus.signals.counters.wiring import counter

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
wire = counter
