"""A definition of a counter: the events that count, under which key, how much, and how long counts are kept. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from abacus.core.fields import EARLIEST
from abacus.signals.counters.decide.grid import Grid, grid_of
from abacus.signals.counters.decide.keep import DEFAULT_KEEP, keep_document
from abacus.signals.counters.decide.template import Template
from abacus.signals.counters.types import Grain

NAME_PATTERN: Final = r"[a-z][a-z0-9_]{0,63}"
USUAL_NEW_KEYS: Final = 1_000_000
VARIABLE: Final = "var."  # how a definition writes a variable


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition, which never changes once it is published, but for its retirement. A draft has the version 0.

    `on` names sources and types of events. `when` is the document of a rule. `add` is 1, or the name of the variable
    that is added; counts are kept in units of the last of `decimals`. `keep` has the seconds for which each grain is
    kept, and lacks a grain that is not. `new_keys_per_day` is None for a version that was published before there was a
    bound.
    """

    id: int
    name: str
    template: Template
    on: tuple[tuple[str, str], ...]
    when: Mapping[str, object] | None = None
    add: int | str = 1
    decimals: int = 0
    timezone: str = "UTC"
    keep: Mapping[Grain, int] = field(default_factory=lambda: DEFAULT_KEEP)
    new_keys_per_day: int | None = USUAL_NEW_KEYS
    version: int = 0
    published_at: datetime = EARLIEST
    retired_at: datetime | None = None
    grid: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        grid = grid_of(ZoneInfo(self.timezone), self.keep)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "keep", grid.keep)

    def __hash__(self) -> int:  # the generated one would hash the mappings, which have no hash
        return hash((self.id, self.version))

    @property
    def zone(self) -> ZoneInfo:
        return self.grid.zone

    @property
    def most_new_keys(self) -> int:
        """How many keys that did not count before may begin to count in a day."""
        return USUAL_NEW_KEYS if self.new_keys_per_day is None else self.new_keys_per_day

    @property
    def retired(self) -> bool:
        """Whether it counts no more. What it has counted can be asked for until it is forgotten."""
        return self.retired_at is not None

    @property
    def label(self) -> str:
        """The name and the version, as people write them: "rides@3"."""
        return f"{self.name}@{self.version}"

    @property
    def space(self) -> str:
        """The beginning of the counter's keys in the store: no two versions of any definition share one."""
        return f"{self.id}.{self.version}:"

    def stored_key(self, key: str) -> str:
        return self.space + key

    def published(self, version: int, at: datetime, retired_at: datetime | None = None) -> "Definition":
        """The same definition under its number."""
        return replace(self, version=version, published_at=at, retired_at=retired_at)


def to_document(definition: Definition) -> dict[str, object]:
    """The definition as JSON holds it; its version and times are no part of that."""
    document: dict[str, object] = {
        "id": definition.id,
        "name": definition.name,
        "template": str(definition.template),
        "on": ["/".join(each) for each in definition.on],
    }
    if definition.when is not None:
        document["when"] = dict(definition.when)
    if isinstance(definition.add, str):
        document |= {"add": VARIABLE + definition.add, "decimals": definition.decimals}
    return document | {
        "timezone": definition.timezone,
        "keep": keep_document(definition.keep),
        "new_keys_per_day": definition.most_new_keys,
    }
