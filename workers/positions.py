"""Follows the positions of members: the regions that they enter and leave become events."""

from typing import Final

from abacus.bootstrap import Service
from abacus.signals.places.wiring import positions

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
wire = positions
