"""Numbers and days as people of a locale write them. Pure."""

from datetime import date
from typing import Final

_GROUPED_BY_DOTS: Final = frozenset({"id", "vi"})

_MONTHS: Final = {
    "en": "January February March April May June July August September October November December",
    "id": "Januari Februari Maret April Mei Juni Juli Agustus September Oktober November Desember",
}


def language_of(locale: str) -> str:
    return locale.partition("-")[0]


def number(value: int, locale: str) -> str:
    """A number such as 1,250, or 1.250 in a locale that sets thousands apart by dots."""
    text = f"{value:,}"
    return text.replace(",", ".") if language_of(locale) in _GROUPED_BY_DOTS else text


def day(value: date, locale: str) -> str:
    """A day such as 31 July 2026; in a language that we do not know 2026-07-31, which is understood everywhere."""
    language = language_of(locale)
    if language in _MONTHS:
        return f"{value.day} {_MONTHS[language].split(' ')[value.month - 1]} {value.year}"
    return f"{value.day}/{value.month}/{value.year}" if language == "vi" else value.isoformat()
