"""The account of a window from the collected tables: groups are counted, and faults are named by key."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from abacus.ledger.relay.cursor import Position
from abacus.oversight.reconcile.campaigns import CampaignEffects
from abacus.oversight.reconcile.decide.account import Account, Finding, Origin, What
from abacus.oversight.reconcile.decide.verdict import FAULTS, verdict_of
from abacus.oversight.reconcile.events import EventTable
from abacus.oversight.reconcile.messages import AsOf, MessageTable
from abacus.oversight.reconcile.transfers import Transfers


class Evidence(NamedTuple):
    """The tables to query; the cursor is the relay's before the points topic was read."""

    messages: MessageTable
    events: EventTable
    transfers: Transfers
    campaigns: CampaignEffects
    cursor: Position


async def tell(account: Account, evidence: Evidence, as_of: AsOf) -> None:
    """Tell the account everything, as of one moment of the ledger: within a transaction."""
    doubled = [*await evidence.transfers.not_their_claims(), *await evidence.events.doubled()]
    as_of = as_of._replace(doubled=sorted({each.name for each in doubled if each.what is What.DOUBLED}))
    account.add_messages(await evidence.messages.groups(as_of))
    account.add_asks(await evidence.transfers.asks(as_of))
    account.add_awards(await evidence.campaigns.awards(as_of))
    account.actions += await evidence.campaigns.actions()
    account.totals += await evidence.campaigns.totals()
    account.posted += await evidence.transfers.posted()
    account.published = await evidence.events.published(evidence.cursor)
    for finding in doubled:
        account.found(finding)
    at_fault = account.verdicts + account.asks
    if any(at_fault[verdict] for verdict in FAULTS):
        async for finding in _at_fault(account, evidence, as_of):
            account.found(finding)
    nowhere = sum(each.transfers for each in account.posted if each.origin == Origin.NOWHERE)
    account.found_of(nowhere, await evidence.transfers.without_a_source())
    account.found_of(*await evidence.campaigns.other_points())
    told = account.published
    account.found_of(told.missing, await evidence.events.missing(evidence.cursor))
    account.found_of(told.unknown + told.unreadable, await evidence.events.unknown())


async def _at_fault(account: Account, evidence: Evidence, as_of: AsOf) -> AsyncIterator[Finding]:
    async for where, facts in evidence.messages.one_by_one(as_of):
        verdict = verdict_of(facts, account.queues)
        if verdict in FAULTS:
            yield Finding(What(verdict), where.key or "(no key)", f"{where.partition}:{where.offset}")
    for finding in await evidence.transfers.asks_at_fault(as_of, account.queues):
        yield finding
    for finding in await evidence.campaigns.awards_at_fault(as_of, account.queues):
        yield finding
