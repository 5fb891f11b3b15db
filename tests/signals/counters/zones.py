"""Zones whose clocks are out of the ordinary."""

from typing import Final

# Of whole, half and quarter hours; with a change of the clock at midnight, of half an hour, past midnight, of a whole
# day; and with offsets that were no multiple of a quarter after 1970.
ZONES: Final = (
    "UTC",
    "Asia/Singapore",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "America/St_Johns",
    "Europe/Berlin",
    "Australia/Lord_Howe",
    "America/Havana",
    "America/Sao_Paulo",
    "Atlantic/Azores",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Pacific/Chatham",
    "Africa/Monrovia",
    "Antarctica/Troll",
)
