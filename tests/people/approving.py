"""What the tests of approvals share: people, proposals, and a room whose executor notes what takes effect."""

from datetime import UTC, datetime
from typing import Final

from abacus.people.decide.agreement import canonical
from abacus.people.decide.names import parse_grants
from abacus.people.store.approvals import Approvals, Executor
from abacus.people.types.approval import Approval, ApprovalKind, Proposal, Terms
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Pool
from tests.support.fixed_clock import FixedClock

NOW: Final = datetime(2026, 11, 22, tzinfo=UTC)
LOGIN: Final = Actor("root@host", None)


def person(name: str, *roles: str) -> Actor:
    return Actor(name, parse_grants(roles))


ANN: Final = person("ann", "support", "approver")
BEN: Final = person("ben", "approver")
CAT: Final = person("cat", "approver")


def proposal(subject: str = "acme", points: int = 5, country: str | None = "SG") -> Proposal:
    document = canonical({"points": points})
    return Proposal(ApprovalKind.LIMITS, subject, country, f"{points} points of {subject}", document)


class Effects:
    """What took effect, by subject, with the document; and a way to fail."""

    def __init__(self) -> None:
        self.happened: list[tuple[str, str]] = []
        self.fault: Exception | None = None

    async def __call__(self, approval: Approval, _: Also) -> None:
        """Idempotent, as movements are by their key."""
        if self.fault is not None:
            raise self.fault
        if (approval.subject, approval.document) not in self.happened:
            self.happened.append((approval.subject, approval.document))


def room(pool: Pool, executor: Executor, now: datetime = NOW, terms: Terms | None = None) -> Approvals:
    return Approvals(pool, FixedClock(now), dict.fromkeys(ApprovalKind, executor), terms)
