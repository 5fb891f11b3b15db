"""Posts the awards of the award queue to the ledger."""

from functools import partial
from typing import Final

from abacus.bootstrap import Service
from abacus.engage.campaigns.campaign_store import CampaignNames
from abacus.intake.awarding.wiring import awarder

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})
wire = partial(awarder, campaigns_of=CampaignNames)
