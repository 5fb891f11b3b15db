"""The meaning of the errors of a Citus: each is told by its code and the function that states it."""

from typing import Final

import asyncpg

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
