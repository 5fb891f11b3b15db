"""Errors as Postgres states them: with the function that stated them, and words in whatever language."""

import asyncpg


def internal(
    by: str, words: str = "es ging nicht", code: str = "XX000", where: str | None = None
) -> asyncpg.PostgresError:
    """An error of that function; one that Citus passes on says `where` it comes from."""
    fields = {"S": "ERROR", "V": "ERROR", "C": code, "M": words, "R": by}
    error: asyncpg.PostgresError = asyncpg.PostgresError.new(fields | ({"W": where} if where else {}))
    return error
