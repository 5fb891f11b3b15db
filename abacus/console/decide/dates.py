"""How a moment is written for a reader: in its zone and its locale, in relative words where it is recent. Pure."""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

_JUST_NOW: Final = timedelta(minutes=1)
_RECENT: Final = timedelta(hours=1)
_DAYS: Final = {-1: "yesterday", 1: "tomorrow"}
# Regions whose people write the month first, and whose clocks have twelve hours, when they write English.
_MONTH_FIRST: Final = frozenset({"US"})
_TWELVE_HOURS: Final = frozenset({"US", "CA", "AU", "NZ", "IN", "PH", "SG", "MY", "HK", "PK", "BD"})
_REGION: Final = re.compile(r"[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2})\b", re.IGNORECASE)


class Manner(NamedTuple):
    """How a reader writes: its zone, and the habits of its locale."""

    zone: str
    month_first: bool = False
    twelve_hours: bool = False


class Shown(NamedTuple):
    """A moment in words: `text` is short, `since` the same without relative minutes, `full` names the zone, and the
    time in the country where that is another. `recent` words change with the minute; `differs`: the country's clock
    shows another time.
    """

    iso: str
    text: str
    since: str
    full: str
    recent: bool
    differs: bool


def manner_of(accepted: str, zone: str) -> Manner:
    """Of the languages that a browser accepts, the first names the habits."""
    found = _REGION.match(accepted.partition(",")[0].strip())
    region = found[1].upper() if found else ""
    return Manner(zone, region in _MONTH_FIRST, region in _TWELVE_HOURS)


def shown(
    moment: datetime, now: datetime, manner: Manner, country: str | None = None, country_zone: str | None = None
) -> Shown:
    own, today = (each.astimezone(ZoneInfo(manner.zone)) for each in (moment, now))
    theirs = moment.astimezone(ZoneInfo(country_zone)) if country_zone is not None else None
    differs = theirs is not None and theirs.utcoffset() != own.utcoffset()
    since, recent = _since(own, today, manner), _recent(moment - now)
    is_today = own.date() == today.date()
    return Shown(
        iso=moment.isoformat(),
        text=recent or (f"today {since}" if is_today else since),
        since=since,
        full=_full(own, manner) + (f"; in {country} {_full(theirs, manner)}" if theirs is not None and differs else ""),
        recent=recent is not None,
        differs=differs,
    )


def day_of(local: datetime, today: datetime, manner: Manner) -> str:
    """The day in words: `today`, `yesterday`, or its date, with the year where it is another."""
    apart = (local.date() - today.date()).days
    if apart == 0:
        return "today"
    return _DAYS.get(apart) or _date(local, manner, with_year=local.year != today.year)


def _since(own: datetime, today: datetime, manner: Manner) -> str:
    clock = _clock(own, manner)
    return clock if own.date() == today.date() else f"{day_of(own, today, manner)} {clock}"


def _recent(apart: timedelta) -> str | None:
    if abs(apart) >= _RECENT:
        return None
    if abs(apart) < _JUST_NOW:
        return "just now"
    minutes = int(abs(apart) / timedelta(minutes=1))
    words = f"{minutes} minute{'' if minutes == 1 else 's'}"
    return f"{words} ago" if apart < timedelta() else f"in {words}"


def _full(local: datetime, manner: Manner) -> str:
    date = _date(local, manner, with_year=True, month="%B")
    return f"{local:%A} {date}, {_clock(local, manner, seconds=True)} {_zone_name(local)}"


def _date(local: datetime, manner: Manner, *, with_year: bool, month: str = "%b") -> str:
    name = local.strftime(month)
    if manner.month_first:
        return f"{name} {local.day}" + (f", {local.year}" if with_year else "")
    return f"{local.day} {name}" + (f" {local.year}" if with_year else "")


def _clock(local: datetime, manner: Manner, *, seconds: bool = False) -> str:
    rest = f":{local:%M}" + (f":{local:%S}" if seconds else "")
    if manner.twelve_hours:
        return f"{(local.hour - 1) % 12 + 1}{rest} {'am' if local.hour < 12 else 'pm'}"  # noqa: PLR2004  # noon
    return f"{local:%H}{rest}"


def _zone_name(local: datetime) -> str:
    name = local.tzname() or ""
    return f"UTC{name}" if name.startswith(("+", "-")) else name
