"""What a look-up is asked for, what it tells, and the look-ups by the names of their origins. Pure."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from abacus.signals.events.types import Value
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.types import Facts, Origin, Side

SubjectT = TypeVar("SubjectT", bound="Subject")


class _Told(Enum):
    NOT_NOW = "not now"


# Instead of a value: it cannot be told now, and may be later.
NotNow: TypeAlias = Literal[_Told.NOT_NOW]
NOT_NOW: Final = _Told.NOT_NOW

Found: TypeAlias = Value | AtLeast | NotNow | None


class Subject(Protocol):
    """For whom a rule is decided, by which facts. What else a look-up needs, it asks of its own kind of subjects."""

    @property
    def facts(self) -> Facts: ...


Wish: TypeAlias = tuple[SubjectT, Side]


SubjectT_contra = TypeVar("SubjectT_contra", bound=Subject, contravariant=True)


class FactSource(Protocol[SubjectT_contra]):
    """Tells the values of one origin, many in one call."""

    @property
    def origin(self) -> Origin: ...

    async def load(self, wanted: Sequence[tuple[SubjectT_contra, Side]]) -> Sequence[Found]:
        """The values, in the order of the wishes. Raises `Unavailable`."""
        ...


class ToldAlike(NamedTuple):
    """Values by the texts of their left sides, and the subjects that have them, by their places."""

    values: Mapping[str, Found]
    places: Sequence[int]


@runtime_checkable
class LoadsForAll(Protocol[SubjectT_contra]):
    """A source that is asked the same of many quickly."""

    async def load_for_all(self, subjects: Sequence[SubjectT_contra], sides: Sequence[Side]) -> Sequence[ToldAlike]:
        """As `FactRegistry.load_for_all`."""
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

    async def load_for_all(
        self, origin: Origin, subjects: Sequence[SubjectT], sides: Sequence[Side]
    ) -> Sequence[ToldAlike]:
        """The values of the same left sides for all: each subject is in one of the answers. Raises the same."""
        source = self._sources[origin.name]
        if isinstance(source, LoadsForAll):
            return await source.load_for_all(subjects, sides)
        found = iter(await source.load([(each, side) for each in subjects for side in sides]))
        return [ToldAlike({side.text: next(found) for side in sides}, [place]) for place in range(len(subjects))]
