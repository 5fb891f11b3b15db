"""What is known of the growth of tables. Pure values."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Final, NamedTuple

DATABASE: Final = ""  # in the sizes of a day: the whole database


class Group(StrEnum):
    """Tables of which people speak together. A series of metrics each."""

    LEDGER = "ledger"
    PROGRAMS = "programs"
    INTAKE = "intake"
    PARTNERS = "partners"
    EXCHANGES = "exchanges"
    CAMPAIGNS = "campaigns"
    JOURNEYS = "journeys"
    OFFERS = "offers"
    REWARDS = "rewards"
    MESSAGES = "messages"
    SIGNALS = "signals"
    PEOPLE = "people"
    HOUSE = "house"
    OTHERS = "others"  # of Postgres, and tables that are not Abacus'


class Growth(NamedTuple):
    """What rows of these tables come by, how long they stay, and where they go or why they stay."""

    tables: tuple[str, ...]
    group: Group
    by: str
    life: str
    goes: str


class Sizes(NamedTuple):
    """The bytes of the whole database, and of each table with its indexes, over all slices and servers."""

    database: int
    tables: Mapping[str, int]


class SizeOfDay(NamedTuple):
    """A row of `size_of_day`."""

    day: date
    of_table: str
    bytes: int


class TableGrowth(NamedTuple):
    """A table's bytes now, and how many more each day; None where there is no day to compare with."""

    table: str
    bytes: int
    a_day: int | None


class DiskForecast(NamedTuple):
    """The bytes of the database, how many more each day, and the days by which that is known; `full_on` is the day on
    which the disks are full at this rate, as far as they are told and it grows.
    """

    bytes: int
    a_day: int | None
    by_days: int
    disk: int | None
    days_left: int | None
    full_on: date | None
    largest: tuple[TableGrowth, ...]
