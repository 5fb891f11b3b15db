"""How the approval of a partner's limits is told: each limit before and after."""

from typing import Any, Final

from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changed
from abacus.console.pages.approvals.telling import Telling
from abacus.console.pages.partners.partner import LIMITS as LIMITS_OF
from abacus.console.web.calls import Call
from abacus.core.errors import Refused
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.types.approval import Approval, ApprovalKind, Status

_NONE: Final = "no limit"
_NAMES: Final = [LIMITS_OF[name] for name in Limits._fields]
_WHY: Final = "A partner may award more points than before only when another person agrees."


def _title(approval: Approval, _: Any) -> str:
    return f"Limits of the partner {approval.subject}"


async def _told(call: Call, approval: Approval, document: Any) -> Told:
    after, before = Limits(**document["limits"]), None
    if approval.status == Status.PENDING:
        try:
            before = (await call.rooms[PartnerStore].get(approval.subject)).allowance.limits
        except Refused:
            before = None
    return Told(
        why=_WHY,
        changes=[
            changed(name, _NONE if was is None else was, _NONE if now is None else now)
            for name, was, now in zip(_NAMES, before, after, strict=True)
        ]
        if before is not None
        else (),
        facts=[(name, _NONE if now is None else f"{now:,}") for name, now in zip(_NAMES, after, strict=True)]
        if before is None
        else (),
        against="its limits now" if before is not None else None,
        about=[Named("partner", approval.subject)],
    )


LIMITS: Final = Telling(kind=ApprovalKind.LIMITS, noun="Limits of a partner", title=_title, told=_told)
