"""An exchange that the house has lost with a backup, as its partner remembers it. Pure."""

import re
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.errors import Refused
from abacus.core.ids import fingerprint
from abacus.core.sources import exchange_source
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import Direction, Programme
from abacus.exchanges.decide.quote import offered
from abacus.exchanges.decide.terms import Amounts, by_points
from abacus.exchanges.types import Recalled, StatementLine

RESTORED: Final = "restored"  # why it is held
_VERSION: Final = re.compile(r"[0-9]{1,9}", re.ASCII)


class Owner(NamedTuple):
    """Whose account at the partner it is, and since when."""

    link_id: UUID
    member_id: str
    verified_at: datetime


def version_in(label: str, programme: str) -> int | None:
    """3 of "skymiles@3"; None where it is another programme's."""
    name, _, version = label.rpartition("@")
    return int(version) if name == programme and _VERSION.fullmatch(version) else None


def doubt(recalled: Recalled, line: StatementLine, programme: Programme, owner: Owner) -> str | None:
    """Why the partner is not believed about our points; None where it is."""
    try:
        bought = by_points(offered(programme, Direction.OUT).terms, recalled.points)
    except Refused as fault:
        return str(fault)
    if bought != Amounts(recalled.points, recalled.amount):
        return f"{recalled.points} points buy {bought.credit}, not {recalled.amount}, by {programme.label}"
    if line.amount != recalled.amount:
        return f"the statement says {line.amount}, and the transfer {recalled.amount}"
    if owner.verified_at > line.at:
        return f"the account was linked at {owner.verified_at.isoformat()}, behind {line.at.isoformat()}"
    return None


def remade(exchange_id: UUID, recalled: Recalled, programme: Programme, owner: Owner, now: datetime) -> Exchange:
    """To be held again. Who had asked for it is not known any more: the programme answers for it."""
    out = programme.directions.get(Direction.OUT)
    return Exchange(
        exchange_id=exchange_id,
        direction=Direction.OUT,
        programme=programme.name,
        version=programme.version,
        partner=programme.partner,
        member_id=owner.member_id,
        program=programme.program,
        country=programme.country,
        link_id=owner.link_id,
        points=recalled.points,
        theirs=recalled.amount,
        fee=0 if out is None else out.fee,
        key=None,
        fingerprint=fingerprint((RESTORED, str(exchange_id))),
        actor=RESTORED,
        source=exchange_source(programme.name),
        state=State.UNKNOWN,
        reason=RESTORED,
        detail=None,
        reference=recalled.reference,
        quoted_at=now,
        expires_at=now,
        asked_at=now,
        sent_at=now,
        credited_at=None,
        ended_at=None,
        changed_at=now,
        due_at=now,
        late_at=None,
        attempts=1,
        turns=1,
        file=None,
    )
