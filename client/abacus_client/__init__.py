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
from abacus_client.problem import FieldFault, Problem

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
    "Lot",
    "Member",
    "Movement",
    "Pending",
    "Problem",
    "Quote",
    "QuotedTransaction",
    "Refused",
    "Transaction",
    "Transfer",
    "Unauthorized",
    "Unavailable",
    "Worth",
]
