"""The moments at which a member is told of points that will expire: 30 and 7 days ahead, by the country's calendar.
Pure.
"""

from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.engage.notify.decide.news import Expiring
from abacus.engage.notify.decide.notice import Notice

DAYS_AHEAD: Final = (30, 7)  # the largest first


class Expiry(NamedTuple):
    """Points of an account that will expire at the end of a day."""

    member_id: str
    program: str
    country: str
    points: int
    expires_on: date
    lifetime: bool


def reminder_of(expiry: Expiry, today: date, now: datetime) -> Notice:
    """The notice of the current stage, for points that expire within the window. The next run makes up for a run that
    was missed, until the next stage begins; each stage makes one notice, on whichever day the job runs.
    """
    days = (expiry.expires_on - today).days
    stage = min(each for each in DAYS_AHEAD if days <= each)
    news = Expiring(
        program=expiry.program,
        country=expiry.country,
        points=expiry.points,
        expires_on=expiry.expires_on,
        days=days,
        lifetime=expiry.lifetime,
    )
    return Notice(expiry.member_id, f"expiring:{expiry.program}:{expiry.expires_on}:{stage}", now, 0, news)
