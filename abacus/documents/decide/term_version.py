"""A version of a document that holds for a time: its name in words, and the zone of its clock times. Pure."""

from functools import cached_property
from zoneinfo import ZoneInfo


class TermVersion:
    """What a frozen dataclass with these fields is besides. It takes over `__hash__` by name: the generated one would
    hash mappings, which have no hash.
    """

    name: str
    version: int
    timezone: str

    def __hash__(self) -> int:
        return hash((self.name, self.version))

    @cached_property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    @property
    def label(self) -> str:
        """The name and the version, as people write them: "lunch_20@2"."""
        return f"{self.name}@{self.version}"
