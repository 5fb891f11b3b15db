"""The Python client of the award API: `Client`, and `AsyncClient` for asyncio."""

from abacus_client.answers import (
    Account,
    Award,
    BatchResult,
    Count,
    EventResult,
    Lot,
    Member,
    Movement,
    Pending,
    Quote,
    Transfer,
    Worth,
)
from abacus_client.asynchronous import AsyncClient
from abacus_client.blocking import Client
from abacus_client.calls import ComputedItem, CountQuery, Event, FixedItem, QuotedTransaction, Transaction
from abacus_client.errors import ApiError, Refused, Unauthorized, Unavailable
from abacus_client.offer_answers import (
    ItemOffers,
    OfferedLine,
    OfferRedemption,
    Qualified,
    RefusedOffer,
    Reservation,
    ShownOffer,
    ValidatedOffer,
)
from abacus_client.offer_calls import OfferItem
from abacus_client.problem import FieldFault, Problem
from abacus_client.reward_answers import Lock, PointQuote, Reward, RewardRedemption, Rewards

__all__ = [
    "Account",
    "ApiError",
    "AsyncClient",
    "Award",
    "BatchResult",
    "Client",
    "ComputedItem",
    "Count",
    "CountQuery",
    "Event",
    "EventResult",
    "FieldFault",
    "FixedItem",
    "ItemOffers",
    "Lock",
    "Lot",
    "Member",
    "Movement",
    "OfferItem",
    "OfferRedemption",
    "OfferedLine",
    "Pending",
    "PointQuote",
    "Problem",
    "Qualified",
    "Quote",
    "QuotedTransaction",
    "Refused",
    "RefusedOffer",
    "Reservation",
    "Reward",
    "RewardRedemption",
    "Rewards",
    "ShownOffer",
    "Transaction",
    "Transfer",
    "Unauthorized",
    "Unavailable",
    "ValidatedOffer",
    "Worth",
]
