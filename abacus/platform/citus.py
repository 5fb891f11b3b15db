"""What a transaction over several servers has to do beside its work, and what Citus means by its errors.

On one server nothing of this is needed, and nothing of it is done.
"""

from typing import TYPE_CHECKING, Final

import asyncpg

from abacus.platform.slicing import HEAD

if TYPE_CHECKING:
    from abacus.platform.led import LedConnection

# A change of no row. For a transaction that has changed something in a slice, Citus does not move that slice.
STAY: Final = f"update {HEAD} set one = one where not one"

# Citus states most of its own errors as internal ones, without a code that says which. Their words may be another
# library's, and in another language. The name of the function that states an error comes beside them, and is neither.
_INTERNAL: Final = "XX000"

# A slice is moved, or a table is made in it: Citus does not wait for the lock that this takes.
_OF_LOCKS: Final = frozenset(
    {"AcquireShardPlacementLock", "AcquirePlacementColocationLock", "AcquireRebalanceColocationLock"}
)

# A server was lost: while it was to begin, to answer, to prepare a commit, to commit.
_OF_LOST_SERVERS: Final = frozenset(
    {
        *("InitializeCopyShardState", "ScheduleNextPlacementExecution", "MarkRemoteTransactionFailed"),
        *("CheckRemoteTransactionsHealth", "FinishRemoteTransactionPrepare", "ErrorIfPostCommitFailedShardPlacements"),
    }
)

# What another server has answered keeps its code. So an internal error is one of that server's own, or the word of the
# library that its connection broke. Neither is about a value, and the two cannot be told apart.
_OF_ANSWERS: Final = "ReportResultError"

# What another server has answered to a COPY loses its code. A connection that broke has one here.
_OF_COPIES: Final = "ReportCopyError"


async def stay(connection: "LedConnection") -> None:
    """Keep the slice on its server until the transaction ends. Citus would move it between the statements of one that
    has changed nothing yet: locks that were taken there would then hold nobody back, and rows have other addresses.
    """
    if connection.slice_schema is not None:
        await connection.execute(STAY)


async def commit_together(connection: "LedConnection") -> None:
    """From here on the transaction ends on all servers alike, also if one of them fails just then: it is prepared on
    each, and committed once all have it. Citus does that for a transaction that copied rows to a slice, though there
    were none; for changes of one slice beside tables that are not cut it would commit one after the other.
    """
    if connection.slice_schema is not None:
        await connection.copy_records_to_table("claim", records=[])


def is_on_its_way(error: asyncpg.PostgresError) -> bool:
    """Whether Citus would not wait for a slice that is moved, or in which a table is being made."""
    return error.sqlstate == _INTERNAL and error.server_source_function in _OF_LOCKS


def passes(error: asyncpg.PostgresError) -> bool:
    """Whether it is an internal error that says nothing about the data: a slice is on its way, a server was lost, or
    another server has an internal error.
    """
    by = error.server_source_function
    return error.sqlstate == _INTERNAL and (by in _OF_LOCKS or by in _OF_LOST_SERVERS or by == _OF_ANSWERS)


def is_refused_copy(error: BaseException) -> bool:
    """Whether another server did not take rows that were copied to it. Why, Citus does not pass on: nearly always
    somebody else has written a row with the same key.
    """
    return (
        isinstance(error, asyncpg.PostgresError)
        and error.sqlstate == _INTERNAL
        and error.server_source_function == _OF_COPIES
    )


def place_of(error: BaseException) -> str:
    """Where another server's answer comes from, in words; empty for an error of the own server."""
    if not isinstance(error, asyncpg.PostgresError) or error.server_source_function != _OF_ANSWERS:
        return ""
    return f" ({' '.join(str(error.context).split())})" if error.context else ""
