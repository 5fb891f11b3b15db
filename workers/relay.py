"""Publishes transfers and seals of the ledger on the points stream, and chains the log."""

from typing import Final

from abacus.bootstrap import Service
from abacus.proof.wiring import relay

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
wire = relay
