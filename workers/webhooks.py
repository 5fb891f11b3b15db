"""Sends partners the outcome of their awards: from the points stream and the rejections to their webhooks."""

from typing import Final

from abacus.bootstrap import Service
from abacus.intake.partners.wiring import webhooks

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
wire = webhooks
