"""Of which share of its keys a cache keeps answers. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

ALL_CACHES: Final = "caches"  # 0: no cache keeps anything
_OF_ROUTE: Final = "cache:"
_EARLIER: Final = {"counts": "cache_share"}  # a share that was set before there were routes


class Setting(NamedTuple):
    """A row of `counter_setting`: other caches came later than that of counts."""

    name: str
    value: int  # of a share: the percentage
    set_at: datetime
    set_by: str


Settings: TypeAlias = Mapping[str, Setting]  # by name


def name_of(route: str) -> str:
    """The name of the row that says the share of a route."""
    return _EARLIER.get(route, _OF_ROUTE + route)


def are_off(settings: Settings) -> bool:
    """Whether all caches are switched off."""
    switch = settings.get(ALL_CACHES)
    return switch is not None and not switch.value


def share_of(route: str, settings: Settings) -> int | None:
    """In percent; None where nobody has set it."""
    if are_off(settings):
        return 0
    setting = settings.get(name_of(route))
    return None if setting is None else setting.value
