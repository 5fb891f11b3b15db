"""A moment as a person reads it: in its own zone, with the country's beside it where that differs."""

from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo


class Shown(NamedTuple):
    """`own` is in the person's zone, `theirs` in the country's, or None where that says the same."""

    iso: str
    own: str
    theirs: str | None


def shown(moment: datetime, zone: str, country_zone: str | None = None) -> Shown:
    own = moment.astimezone(ZoneInfo(zone))
    theirs = moment.astimezone(ZoneInfo(country_zone)) if country_zone is not None else None
    differs = theirs is not None and theirs.utcoffset() != own.utcoffset()
    return Shown(moment.isoformat(), _text(own), _text(theirs) if differs and theirs is not None else None)


def _text(local: datetime) -> str:
    return f"{local:%Y-%m-%d %H:%M} {_zone_name(local)}"


def _zone_name(local: datetime) -> str:
    name = local.tzname() or ""
    return f"UTC{name}" if name.startswith(("+", "-")) else name
