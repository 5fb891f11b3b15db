"""What an exchange would be: its points, its fee, until when that is good, and whether it can be undone. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from abacus.core.errors import Refused
from abacus.core.ids import fingerprint
from abacus.core.sources import Agent
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import Direction, Offered, Programme
from abacus.exchanges.decide.terms import Amounts, by_points, by_target


class NotOffered(Refused):
    """The programme does not exchange this way, or not now."""


class Wish(NamedTuple):
    """What a member would exchange: points of the giver's, or a target of the taker's."""

    member_id: str
    programme: str
    direction: Direction = Direction.OUT
    points: int | None = None
    target: int | None = None


class Usual(NamedTuple):
    """How long the partner took for half of what it credited lately, and for 95 of 100."""

    half: timedelta
    most: timedelta


def offered(programme: Programme, direction: Direction) -> Offered:
    """Raises `NotOffered`."""
    found: Mapping[Direction, Offered] = programme.directions
    if direction not in found:
        raise NotOffered(f"{programme.name} exchanges nothing {_WAY[direction]}")
    return found[direction]


def check_open(programme: Programme, now: datetime) -> None:
    """Raises `NotOffered`."""
    if now < programme.starts_at:
        raise NotOffered(f"{programme.name} begins at {programme.starts_at.isoformat()}")
    if now >= programme.ends_at:
        raise NotOffered(f"{programme.name} ended at {programme.ends_at.isoformat()}")


def amounts(programme: Programme, wish: Wish) -> Amounts:
    """Raises `NotOffered` and `UnfitAmount`."""
    terms = offered(programme, wish.direction).terms
    if wish.target is not None:
        return by_target(terms, wish.target)
    if wish.points is None:
        raise NotOffered("either points or a target is needed")
    return by_points(terms, wish.points)


def quoted(
    programme: Programme, wish: Wish, link_id: UUID, agent: Agent, now: datetime, *, exchange_id: UUID
) -> Exchange:
    """What goes out, at these terms until they are over. Raises `NotOffered` and `UnfitAmount`."""
    debit, credit = amounts(programme, wish)
    return Exchange(
        exchange_id=exchange_id,
        direction=Direction.OUT,
        programme=programme.name,
        version=programme.version,
        partner=programme.partner,
        member_id=wish.member_id,
        program=programme.program,
        country=programme.country,
        link_id=link_id,
        points=debit,
        theirs=credit,
        fee=offered(programme, Direction.OUT).fee,
        key=None,
        fingerprint=fingerprint([programme.label, wish.member_id, str(link_id), str(debit), str(credit)]),
        actor=agent.actor,
        source=agent.source,
        state=State.QUOTED,
        reason=None,
        detail=None,
        reference=None,
        quoted_at=now,
        expires_at=min(now + programme.quote_for, programme.ends_at),
        asked_at=None,
        sent_at=None,
        credited_at=None,
        ended_at=None,
        changed_at=now,
        due_at=None,
        late_at=None,
        attempts=0,
        turns=0,
        file=None,
    )


def asked(quote: Exchange, programme: Programme, key: str, agent: Agent, now: datetime) -> Exchange:
    """The quote, as it is held: a person reviews a large one first."""
    is_large = programme.review_above is not None and quote.points > programme.review_above
    return quote._replace(
        key=key,
        actor=agent.actor,
        source=agent.source,
        state=State.REVIEW if is_large else State.HELD,
        asked_at=now,
        changed_at=now,
        due_at=now,
        turns=quote.turns + 1,
    )


_WAY = {Direction.OUT: "out", Direction.IN: "in"}
