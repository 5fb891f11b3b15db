"""An assumption of finance, as another person approves it."""

import json
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, matching, string
from abacus.core.ids import PROGRAM_PATTERN
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import AssumptionBook, Estimate, percent, share
from abacus.oversight.reports.decide.assumption_form import PRICES, to_document
from abacus.people.decide.agreement import canonical, check_unchanged
from abacus.people.store.approvals import Executor
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.approval import Approval, ApprovalKind, CannotExecute, Proposal
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, Pool
from abacus.pricing.decide.figures import multiplier

_PROGRAM: Final = re.compile(PROGRAM_PATTERN)
_COUNTRY: Final = re.compile("[A-Z]{2}")
_CURRENCY: Final = re.compile("[A-Z]{3}")


class Assumed(NamedTuple):
    """A version of a program's assumptions in a country, before it has a number."""

    program: str
    country: str
    effective_from: date
    estimate: Estimate
    reason: str

    @property
    def subject(self) -> str:
        """What the log and the approval call it."""
        return f"assumption:{self.program}:{self.country}"

    @property
    def document(self) -> str:
        """The canonical JSON of all of it."""
        estimate = {name: None if value is None else str(value) for name, value in self.estimate._asdict().items()}
        day = self.effective_from.isoformat()
        return canonical({**self._asdict(), "effective_from": day, "estimate": estimate})

    @property
    def told(self) -> dict[str, Any]:
        """As the form has it."""
        return to_document(self.program, self.country, self.estimate, since=self.effective_from, reason=self.reason)


def read_assumed(document: Mapping[str, object]) -> Assumed:
    """What was filled in. Raises `DocumentFaults`."""
    faults: list[Fault] = []
    fields = Fields(document, "", faults)
    program = fields.read("program", matching(_PROGRAM, "is no program such as GRP"), "")
    country = fields.read("country", matching(_COUNTRY, "is no country such as SG"), "")
    since = fields.read("effective_from", _day, date.min)
    use = fields.read("expected_use", share, Decimal(1))
    currency = fields.read("currency", matching(_CURRENCY, "is no currency such as SGD"), "")
    prices: dict[str, Decimal | None] = {name: fields.read_if_there(name, multiplier, None) for name in PRICES}
    reason = fields.read("reason", _reason, "")
    fields.refuse_unknown()
    if faults:
        raise DocumentFaults(faults)
    return Assumed(program, country, since, Estimate(currency, use, **prices), reason)


def displaced(wanted: Assumed, book: AssumptionBook) -> tuple[str, dict[str, Any]] | None:
    """The version in force on that day, as people call it, and as the form has it."""
    found = book.in_force((wanted.program, wanted.country), wanted.effective_from)
    if found is None:
        return None
    told = to_document(found.program, found.country, found.estimate, since=found.effective_from, reason=found.reason)
    return f"version {found.version}", told


def _day(value: object) -> date:
    try:
        return date.fromisoformat(string(value))
    except ValueError:
        raise Bad("write a day, such as 2026-07-01") from None


def _reason(value: object) -> str:
    text = string(value).strip()
    if not text:
        raise Bad("say why; auditors read it")
    return text


def assumption_proposal(wanted: Assumed) -> Proposal:
    use, cost = percent(wanted.estimate.expected_use), wanted.estimate.cost_per_point
    priced = f", {cost} {wanted.estimate.currency} a point" if cost is not None else ""
    return Proposal(
        kind=ApprovalKind.ASSUMPTION,
        subject=wanted.subject,
        country=wanted.country,
        summary=f"assume of {wanted.program} in {wanted.country} from {wanted.effective_from}: {use} used{priced}",
        document=wanted.document,
    )


def assumed(approval: Approval) -> Assumed:
    """What an approval lets be assumed."""
    content = json.loads(approval.document)
    values = content.pop("estimate")
    currency = values.pop("currency")
    use = Decimal(values.pop("expected_use"))
    prices = {name: None if value is None else Decimal(value) for name, value in values.items()}
    effective_from = date.fromisoformat(content.pop("effective_from"))
    return Assumed(**content, effective_from=effective_from, estimate=Estimate(currency, use, **prices))


def assuming(pool: Pool, clock: Clock) -> Executor:
    """Sets what was approved as the next version."""

    async def assume(approval: Approval, also: Also) -> None:
        wanted, now = assumed(approval), clock.now()
        check_unchanged(approval, wanted.document)
        program, country, effective_from, estimate, reason = wanted
        entry = entry_of(
            approval.asked_by,
            Deed.SET_ASSUMPTIONS,
            wanted.subject,
            now,
            country=country,
            reason=reason,
            start=effective_from,
            approved_by=approval.decided_by,
        )
        too = with_entry(also, entry)
        try:
            await AssumptionStore(pool).set(
                program, country, effective_from, estimate, by=approval.asked_by, why=reason, now=now, also=too
            )
        except Refused as fault:
            raise CannotExecute(str(fault)) from None

    return assume
