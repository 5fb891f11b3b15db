"""Reads transactions from the stream, calculates, and puts awards on the award queue."""

from typing import Final

from abacus.bootstrap import Service
from abacus.intake.earning.wiring import calculator

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA, Service.SQS})
wire = calculator
