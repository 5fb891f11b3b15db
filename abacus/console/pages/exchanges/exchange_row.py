"""An exchange, as lists and pages show it."""

from dataclasses import dataclass
from datetime import datetime

from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.words import reason_in_words


@dataclass(frozen=True)
class ExchangeRow:
    """The exchange came to its state at `since`. It is `late` where its partner has not answered in time."""

    id: str
    direction: str
    programme: str
    version: int
    partner: str
    country: str
    member_id: str
    points: int
    fee: int
    theirs: int
    state: str
    why: str | None
    is_late: bool
    asked_at: datetime
    since: datetime
    by: str


def row_of(each: Exchange, now: datetime) -> ExchangeRow:
    return ExchangeRow(
        id=str(each.exchange_id),
        direction=each.direction,
        programme=each.programme,
        version=each.version,
        partner=each.partner,
        country=each.country,
        member_id=each.member_id,
        points=each.points,
        fee=each.fee,
        theirs=each.theirs,
        state=each.state,
        why=None if each.reason is None else reason_in_words(each.reason),
        is_late=each.ended_at is None and each.late_at is not None and each.late_at <= now,
        asked_at=each.asked_at or each.quoted_at,
        since=each.changed_at,
        by=each.source,
    )
