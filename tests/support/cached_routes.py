"""The routes whose answers are kept, as the property sees them that holds each to its key. A new route adds its own.

A route is right if two requests with one key have one answer without a cache, and if each request has that answer with
the cache: at borders, and after changes.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from hypothesis.strategies import SearchStrategy

from abacus.platform.reading.types import Meaning

Request_contra = TypeVar("Request_contra", contravariant=True)
Change_contra = TypeVar("Change_contra", contravariant=True)
Request = TypeVar("Request")
Change = TypeVar("Change")


class Serving(Protocol[Request_contra, Change_contra]):
    """A route at work, as it is wired."""

    def key_of(self, request: Request_contra) -> Meaning: ...

    async def cached(self, request: Request_contra) -> Any:
        """The value that callers get."""
        ...

    async def uncached(self, request: Request_contra) -> Any:
        """The value from the sources as they are, by the exact request."""
        ...

    async def change(self, change: Change_contra) -> None:
        """Changes the sources as it is done at work; returns when the process has heard of it."""
        ...


class CachedRoute(NamedTuple, Generic[Request, Change]):
    """Requests are drawn from few enough that keys meet, and from both sides of each border."""

    name: str
    requests: SearchStrategy[Any]
    changes: SearchStrategy[Any]
    opened: Callable[[], AbstractAsyncContextManager[Serving[Request, Change]]]


class Ask(NamedTuple):
    request: Any


class Alter(NamedTuple):
    change: Any


async def held_to_its_key(serving: Serving[Any, Any], steps: Sequence[Ask | Alter]) -> None:
    """Raises `AssertionError` with the requests that have one key and not one answer."""
    exact_by_key: dict[Meaning, tuple[Any, Any]] = {}
    for step in steps:
        if isinstance(step, Alter):
            await serving.change(step.change)
            exact_by_key.clear()
            continue
        request, key = step.request, serving.key_of(step.request)
        exact = await serving.uncached(request)
        other, of_other = exact_by_key.setdefault(key, (request, exact))
        assert of_other == exact, f"{other} and {request} have the key {key}, and not the same answer"
        assert await serving.cached(request) == exact, f"{request} is not told what holds"
