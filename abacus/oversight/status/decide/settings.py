"""The settings of running processes, side by side. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from abacus.platform.presence.types import ProcessNote, Report


class Given(NamedTuple):
    """A value of a setting, and the processes that were given it; None: they were given none, and take the default."""

    value: str | None
    processes: Sequence[str]


class SettingInUse(NamedTuple):
    """A setting that some process was given, with each of its values."""

    name: str
    given: Sequence[Given]

    @property
    def differs(self) -> bool:
        return len(self.given) > 1


def settings_in_use(processes: Sequence[ProcessNote], now: datetime) -> Sequence[SettingInUse]:
    """The settings of running processes, by name. Settings in which processes differ come first."""
    reports = {each: Report.of(each.report) for each in processes if not each.is_gone(now)}
    names = {name for report in reports.values() for name in report.settings}
    found: list[SettingInUse] = []
    for name in names:
        by_value: dict[str | None, list[str]] = {}
        for process, report in reports.items():
            by_value.setdefault(report.settings.get(name), []).append(process.label(report))
        given = sorted(by_value.items(), key=lambda each: (-len(each[1]), each[0] or ""))
        found.append(SettingInUse(name, [Given(*each) for each in given]))
    return sorted(found, key=lambda each: (not each.differs, each.name))
