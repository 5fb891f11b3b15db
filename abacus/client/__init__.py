"""The Python client of the award API: `Client`, and `AsyncClient` for those who await."""

from abacus.client.answers import Account, Award, BatchResult, Lot, Member, Movement, Pending, Transfer, Worth
from abacus.client.asks import ComputedItem, FixedItem, Transaction
from abacus.client.asynchronous import AsyncClient
from abacus.client.blocking import Client
from abacus.client.errors import ApiError, Refused, Unauthorized, Unavailable
from abacus.client.problem import FieldFault, Problem

__all__ = [
    "Account",
    "ApiError",
    "AsyncClient",
    "Award",
    "BatchResult",
    "Client",
    "ComputedItem",
    "FieldFault",
    "FixedItem",
    "Lot",
    "Member",
    "Movement",
    "Pending",
    "Problem",
    "Refused",
    "Transaction",
    "Transfer",
    "Unauthorized",
    "Unavailable",
    "Worth",
]
