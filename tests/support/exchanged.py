"""Exchanges for tests: a programme, and an exchange at a state."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import ByHttp, Direction, Money, Offered, Prefunded, Programme
from abacus.exchanges.decide.terms import Ratio, Terms

NOW: Final = datetime.now(UTC).replace(microsecond=0)
_DAY: Final = timedelta(days=1)

SKYMILES: Final = Programme(
    name="skymiles",
    partner="skylines",
    country="SG",
    program="GRP",
    unit="miles",
    timezone="Asia/Singapore",
    starts_at=NOW - 30 * _DAY,
    ends_at=NOW + 30 * _DAY,
    directions={
        Direction.OUT: Offered(Terms(Ratio(5, 2), 500, 500, 100_000), Decimal("0.01")),
        Direction.IN: Offered(Terms(Ratio(2, 3), 100, 50, 100_000), Decimal("0.005")),
    },
    carrier=ByHttp("https://partner.example"),
    money=Money("SGD", "SR", Prefunded(Decimal(100))),
    cancel_after=3 * _DAY,
    reverses_for=30 * _DAY,
    version=1,
)


def skymiles(**changed: Any) -> Programme:
    return replace(SKYMILES, **changed)


def exchange(state: State = State.HELD, **changed: Any) -> Exchange:
    """Bob's, of 2,500 points for 1,000 miles."""
    is_held = state not in {State.QUOTED, State.HELD, State.REVIEW}
    drawn = Exchange(
        exchange_id=UUID(int=1),
        direction=Direction.OUT,
        programme="skymiles",
        version=1,
        partner="skylines",
        member_id="bob",
        program="GRP",
        country="SG",
        link_id=UUID(int=2),
        points=2500,
        theirs=1000,
        fee=0,
        key=None,
        fingerprint="f",
        actor="shop",
        source="partner:shop",
        state=state,
        reason=None,
        detail=None,
        reference=None,
        quoted_at=NOW,
        expires_at=NOW + timedelta(minutes=10),
        asked_at=NOW,
        sent_at=NOW if is_held else None,
        credited_at=None,
        ended_at=None,
        changed_at=NOW,
        due_at=NOW,
        late_at=None,
        attempts=0,
        turns=1,
        file=None,
    )
    return drawn._replace(**changed)
