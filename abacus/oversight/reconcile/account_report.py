"""The account of a window from the collected tables: groups are counted, and faults are named by key."""

from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

from abacus.oversight.reconcile.asked import Asked, Outcomes
from abacus.oversight.reconcile.decide.account import MOST_FINDINGS, Account, Finding, NamedFault, Origin
from abacus.oversight.reconcile.decide.lines import added
from abacus.oversight.reconcile.decide.verdict import FAULTS, verdict_of
from abacus.oversight.reconcile.effects import Effects, totals_of_campaigns
from abacus.oversight.reconcile.events import EventTable
from abacus.oversight.reconcile.journeys import compared_visits, deeds_not_made
from abacus.oversight.reconcile.messages import AsOf, MessageTable
from abacus.oversight.reconcile.offer_codes import compared_codes
from abacus.oversight.reconcile.offers import compared_offers
from abacus.oversight.reconcile.redeemed import redeemed_otherwise
from abacus.oversight.reconcile.transfers import Transfers
from abacus.platform.postgres import Connection


class Evidence(NamedTuple):
    """The tables to query."""

    messages: MessageTable
    events: EventTable
    transfers: Transfers
    campaigns: Effects
    journeys: Effects
    connection: Connection


async def tell(account: Account, evidence: Evidence, as_of: AsOf) -> None:
    """Tell the account everything, as of one moment of the ledger: within a transaction."""
    doubled = [*await evidence.transfers.not_their_claims(), *await evidence.events.doubled()]
    as_of = as_of._replace(doubled=sorted({each.name for each in doubled if each.what is Finding.DOUBLED}))
    account.add_messages(await evidence.messages.groups(as_of))
    asks = await evidence.transfers.asks(as_of, account.queues)
    awards = await evidence.campaigns.awards(as_of, account.queues)
    of_journeys = await evidence.journeys.awards(as_of, account.queues)
    account.add_asks(account.partners, asks.groups)
    account.add_asks(account.campaigns, awards.groups)
    account.add_asks(account.journeys, of_journeys.groups)
    account.actions += await evidence.campaigns.actions()
    window = account.window
    not_made = await deeds_not_made(evidence.connection, window.start, window.end)
    account.journey_actions += added([*await evidence.journeys.actions(), *not_made])
    account.totals += await totals_of_campaigns(evidence.connection)
    account.visits += await compared_visits(evidence.connection)
    account.grants += [*await evidence.campaigns.grants(), *await evidence.journeys.grants()]
    account.offers += await compared_offers(evidence.connection)
    account.offers += await compared_codes(evidence.connection)
    account.posted += await evidence.transfers.posted()
    account.published = await evidence.events.published()
    for finding in doubled:
        account.found(finding)
    if any(account.verdicts[verdict] for verdict in FAULTS):
        async for finding in _messages_at_fault(account, evidence, as_of):
            account.found(finding)
    for finding in _awards_at_fault(asks, campaign=awards, journey=of_journeys):
        account.found(finding)
    nowhere = sum(each.transfers for each in account.posted if each.origin == Origin.NOWHERE)
    account.found_of(nowhere, await evidence.transfers.without_a_source())
    for each in (awards, of_journeys):
        account.found_of(len(each.differing), _other_points(each))
    for finding in await redeemed_otherwise(evidence.connection, account.window.start, account.window.end):
        account.found(finding)
    told = account.published
    account.found_of(told.missing, await evidence.events.missing())
    account.found_of(told.unknown + told.unreadable, await evidence.events.unknown())


async def _messages_at_fault(account: Account, evidence: Evidence, as_of: AsOf) -> AsyncIterator[NamedFault]:
    async for where, facts in evidence.messages.one_by_one(as_of):
        verdict = verdict_of(facts, account.queues)
        if verdict in FAULTS:
            yield NamedFault(Finding(verdict), where.key or "(no key)", f"{where.partition}:{where.offset}")


def _key(of_award: tuple[Asked, object]) -> str:
    return of_award[0].key


def _awards_at_fault(asks: Outcomes, **of_owners: Outcomes) -> Iterator[NamedFault]:
    for asked, verdict in sorted(asks.faulty, key=_key):
        yield NamedFault(Finding(verdict), asked.key, f"asked for by {asked.by}")
    for kind, awards in of_owners.items():
        for asked, verdict in sorted(awards.faulty, key=_key):
            yield NamedFault(Finding(verdict), asked.key, f"awarded to {asked.member_id} by the {kind} {asked.by}")


def _other_points(awards: Outcomes) -> list[NamedFault]:
    """The first of the awards that stand in the ledger with other points."""
    return [
        NamedFault(Finding.OTHER_POINTS, asked.key, f"{points}, {asked.by} awarded {asked.decided}")
        for asked, points in sorted(awards.differing, key=_key)[:MOST_FINDINGS]
    ]
