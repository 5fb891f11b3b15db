"""Every piece of work, in the order in which they are tried: a worker's together, so that the others seldom change."""

from typing import Final

from tests.reliability.chaos.crashes.campaign_works import CampaignEvents, CampaignGrants, CampaignRetries
from tests.reliability.chaos.crashes.contact_works import MessagesUnderCaps
from tests.reliability.chaos.crashes.earning_works import Retries, StoppedStream, Stream, StreamWithoutTiers
from tests.reliability.chaos.crashes.exchange_works import Exchanges
from tests.reliability.chaos.crashes.journey_works import JourneyEntriesLate, JourneyMovesLate, JourneyVisits
from tests.reliability.chaos.crashes.ledger_works import Awards, BlockedAwards, PartnersAwards, Refunds, StoppedAwards
from tests.reliability.chaos.crashes.month_works import Expiries
from tests.reliability.chaos.crashes.offer_works import OffersTaken
from tests.reliability.chaos.crashes.place_works import MembersFollowed
from tests.reliability.chaos.crashes.relay_works import Transfers, TransfersOfAnother
from tests.reliability.chaos.crashes.reward_works import Redemptions
from tests.reliability.chaos.crashes.work import Work

WORKS: Final[tuple[type[Work], ...]] = (
    Stream,
    StreamWithoutTiers,
    StoppedStream,
    Retries,
    Awards,
    Refunds,
    PartnersAwards,
    BlockedAwards,
    StoppedAwards,
    Expiries,
    Transfers,
    TransfersOfAnother,
    CampaignEvents,
    CampaignRetries,
    CampaignGrants,
    JourneyVisits,
    JourneyEntriesLate,
    JourneyMovesLate,
    MessagesUnderCaps,
    MembersFollowed,
    OffersTaken,
    Redemptions,
    Exchanges,
)
