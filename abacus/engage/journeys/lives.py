"""How long it stays which way members went in journeys, and why they did not enter."""

from datetime import timedelta
from typing import Final

from abacus.platform.retention.life import Life

# A row of the trail has up to 500 members who went together, and stays for the one who is inside longest: of each the
# seat is looked up.
_PAGE: Final = 200
_LEFT: Final = """
case when at < :before then not exists(
    select from unnest(members, visits) as u (member, visit)
    join seat s on s.journey = journey_trail.journey and s.member = u.member and s.visit = u.visit
    where s.left_at is null or s.left_at >= :before
) else false end
"""


def lives(kept: timedelta) -> tuple[Life, ...]:
    """Seats stay: a member enters again by what they say, and they are held against the sums."""
    return (Life("journey_trail", _LEFT, kept, page=_PAGE), Life("journey_refusal", "at < :before", kept))
