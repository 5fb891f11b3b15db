"""When the points of a transaction vest: by its card, a number of days after the day on which it took place. Pure."""

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from abacus.pricing.decide.card import RateCard


class Vesting(NamedTuple):
    """The first day on which the points can be spent, and when that day begins where the transaction took place."""

    on: date
    at: datetime


def vesting_of(card: RateCard, occurred_at: datetime) -> Vesting | None:
    """None by a card whose points can be spent at once."""
    if card.vests_after_days is None:
        return None
    day = occurred_at.astimezone(card.zone).date() + timedelta(days=card.vests_after_days)
    return Vesting(day, datetime(day.year, day.month, day.day, tzinfo=card.zone).astimezone(UTC))
