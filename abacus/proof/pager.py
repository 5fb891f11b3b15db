"""Rows of a query one after the other, however many there are: a page of them is held at a time."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Generic, TypeVar

from abacus.platform.postgres import Connection, pages

Row = TypeVar("Row", bound=tuple[Any, ...])


class Pager(Generic[Row]):
    """For following one query beside another. In a transaction."""

    def __init__(self, row_type: type[Row], connection: Connection, query: str, *parameters: object) -> None:
        self._make = row_type._make  # type: ignore[attr-defined]  # no type says "a named tuple"
        self._pages: AsyncIterator[Sequence[Any]] = pages(connection, query, *parameters)
        self._page: list[Row] = []  # the next one last

    async def peek(self) -> Row | None:
        """The next row, which stays the next one; None after the last."""
        if not self._page:
            page = await anext(self._pages, None)  # never a tuple: as its default, one ends in an error of Python's
            self._page = [self._make(row) for row in reversed(page or [])]
        return self._page[-1] if self._page else None

    async def take(self) -> Row | None:
        """The next row; None after the last."""
        row = await self.peek()
        if row is not None:
            self._page.pop()
        return row
