"""How long progress in campaigns stays that is of a day, a week or a month."""

from datetime import timedelta
from typing import Final

from abacus.engage.campaigns.decide.progress import WHOLE
from abacus.platform.retention.life import Life

# Scopes are named as `period_of` names them, in the zone of the campaign: a day more than the difference of zones.
_BEFORE: Final = "(:before::timestamptz - interval '2 days') at time zone 'UTC'"
_OVER: Final = f"""
scope <> '{WHOLE}' and scope < to_char({_BEFORE}, case
    when scope like '%W%' then 'IYYY-"W"IW' when length(scope) = 7 then 'YYYY-MM' else 'YYYY-MM-DD'
end)
"""


def lives(kept: timedelta) -> tuple[Life, ...]:
    """What a member has had over the whole life of a campaign stays."""
    return (Life("campaign_progress", _OVER, kept),)
