"""Look-ups by the names of their origins."""

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

from abacus.signals.facts.types import Found, Subject, SubjectT, Wish
from abacus.signals.rules.decide.types import Origin, Side

SubjectT_contra = TypeVar("SubjectT_contra", bound=Subject, contravariant=True)


class FactSource(Protocol[SubjectT_contra]):
    """Tells the values of one origin, many in one call."""

    @property
    def origin(self) -> Origin: ...

    async def load(self, wanted: Sequence[tuple[SubjectT_contra, Side]]) -> Sequence[Found]:
        """The values, in the order of the wishes. Raises `Unavailable`."""
        ...


class FactRegistry(Generic[SubjectT]):
    """The sources of several origins, of which no two have one name."""

    def __init__(self, *sources: FactSource[SubjectT]) -> None:
        self._sources = {each.origin.name: each for each in sources}
        if len(self._sources) < len(sources):
            raise ValueError(f"two origins have one name: {[each.origin.name for each in sources]}")

    async def load(self, origin: Origin, wanted: Sequence[Wish[SubjectT]]) -> Sequence[Found]:
        """The values, in the order of the wishes, all of one origin. Raises `Unavailable`, and `LookupError` where
        nothing is registered for it.
        """
        return await self._sources[origin.name].load(wanted)
