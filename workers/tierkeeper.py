"""Keeps members' tiers by the points that they earn, and publishes every change on the tiers stream."""

from typing import Final

from abacus.bootstrap import Service
from abacus.programs.tiers.wiring import tierkeeper

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
wire = tierkeeper
