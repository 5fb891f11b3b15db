"""Large exchanges wait for a second person: it is asked by an approval, and what it has answered is looked for."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from abacus.core.sources import Agent
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.turn import declined, later, trail
from abacus.exchanges.exchange_rows import Step
from abacus.exchanges.settler import BY
from abacus.people.decide.agreement import canonical
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, ApprovalKind, CannotDecide, Proposal, Status

_LOOK_EVERY: Final = timedelta(minutes=1)
_OVER: Final = frozenset({Status.REJECTED, Status.VOID, Status.EXPIRED})


class ApprovedReviews:
    """`Reviews` by approvals. Every method raises `Unavailable` while the database is away."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def looked_at(self, some: Sequence[Exchange], now: datetime) -> list[Step]:
        """Asks, and ends what was refused; what is approved goes on by the approval itself."""
        known = {each.approval_id: each for each in await self._approvals.some([each.exchange_id for each in some])}
        return [await self._looked_at(each, known.get(each.exchange_id), now) for each in some]

    async def _looked_at(self, each: Exchange, approval: Approval | None, now: datetime) -> Step:
        after = later(each, now + _LOOK_EVERY)
        if approval is None:
            try:
                await self._approvals.ask(proposal_of(each), Agent(each.actor, each.source))
            except CannotDecide as fault:
                after = declined(each, now, fault.detail)
        elif approval.status in _OVER:
            after = declined(each, now, approval.note or approval.status)
        told = trail(each, after, now, BY if approval is None else approval.decided_by or BY)
        return Step(each, after, [told] if told else [])


def proposal_of(each: Exchange) -> Proposal:
    """What the second person agrees to."""
    document = {
        "exchange_id": str(each.exchange_id),
        "programme": f"{each.programme}@{each.version}",
        "partner": each.partner,
        "member_id": each.member_id,
        "points": each.points,
        "fee": each.fee,
        "theirs": each.theirs,
    }
    return Proposal(
        kind=ApprovalKind.EXCHANGE,
        subject=str(each.exchange_id),
        country=each.country,
        summary=f"exchange {each.points:,} {each.program} of {each.member_id} for {each.theirs:,} of {each.partner}",
        document=canonical(document),
        once=each.exchange_id,
    )
