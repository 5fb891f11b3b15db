"""Whether the house has done everything that it has to do at this moment."""

import asyncio
from datetime import datetime
from typing import Final, NamedTuple

from abacus.intake.awarding.metrics import AWARDS
from abacus.intake.earning.metrics import TRANSACTIONS
from abacus.ledger.metrics import PUBLISHED
from abacus.oversight.status.wiring import groups_of
from abacus.platform import slices
from abacus.platform.kafka.groups import Lags
from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.sql import Statement

_OUTCOMES: Final = ("posted", "duplicate")
_WORK: Final = Statement("""
select (select count(*) from action where done_at is null and refused_at is null and due_at <= :now)
    + (select count(*) from notice where told_at is null and due_at <= :now)
    + (select count(*) from notification where sent_at is null and parked_at is null)
    + (select count(*) from webhook_delivery where attempts = 0)
    + (select count(*) from pack where due <= :now) as due,
    (select count(*) from transfer) as transfers, (select count(*) from campaign_claim) as claims
""")


class Work(NamedTuple):
    """What is due and not done, and how far the ledger and the campaigns are."""

    due: int
    transfers: int
    claims: int


class Traffic:
    """Transactions and postings on their way, by the workers' own counters since the story began."""

    def __init__(self) -> None:
        self.sent = 0
        self._before, self._published_before = _come_in(), total(PUBLISHED)
        self._decided_before = {outcome: total(AWARDS, source="txn", outcome=outcome) for outcome in _OUTCOMES}

    async def has_come_in(self) -> bool:
        """Whether every transaction is posted, suppressed or set aside."""
        return _come_in() - self._before >= self.sent

    def decided(self, outcome: str) -> int:
        """How many of them the ledger decided so."""
        return total(AWARDS, source="txn", outcome=outcome) - self._decided_before[outcome]

    def is_told(self, work: Work) -> bool:
        """Whether every posting is published."""
        return total(PUBLISHED) - self._published_before >= work.transfers


def _come_in() -> int:
    set_aside = total(TRANSACTIONS, outcome="set_aside") + total(TRANSACTIONS, outcome="ignored")
    return total(AWARDS, source="txn") + set_aside


async def work_of(pool: Pool, now: datetime) -> Work:
    rows = await slices.rows(pool, _WORK(now=now))
    return Work(*(sum(row[name] for row in rows) for name in Work._fields))


async def is_read(lags: Lags, settings: Settings) -> bool:
    """Whether the followers have read their streams to the end."""
    return not any(await asyncio.gather(*(lags.of(each.topic, each.name) for each in groups_of(settings))))
