"""Draft campaigns: read from files, compared with the latest versions, drafted and submitted."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import typer

from abacus.cli.people.approvals import document as approval_document
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.acting import Acting, acting
from abacus.cli.terminal.draft_files import FileFault, read_files, refuse
from abacus.cli.terminal.draft_plans import Say, agreed, unchanged
from abacus.cli.terminal.shell import pool, print_json, settings
from abacus.configuration import built_in_sources
from abacus.core.errors import Refused, absent
from abacus.core.fields import DocumentFaults, Fault
from abacus.engage.campaigns.around import surroundings
from abacus.engage.campaigns.campaign_store import CampaignRecord, CampaignStore, Change
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.document import describe_changes, to_document
from abacus.engage.campaigns.decide.reading import read_campaign
from abacus.engage.campaigns.decide.states import Status
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.engage.campaigns.proposing import campaign_proposal
from abacus.engage.campaigns.trying import tried, tried_campaign
from abacus.engage.notify.renderer import Renderer, rendering
from abacus.people.decide.approving import check_asks
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, Pool, together


class Draft(NamedTuple):
    """A campaign that is nowhere yet, and its file."""

    file: str
    campaign: Campaign


class Plan(NamedTuple):
    """The changes that a draft makes to the latest version."""

    draft: Draft
    against: str | None
    changes: list[str]

    @property
    def file(self) -> str:
        return self.draft.file


async def around(connections: Pool, at: Acting) -> Surroundings:
    """What drafts are judged by."""
    return await surroundings(connections, built_in_sources(settings()), at.clock.now())


async def read_drafts(
    files: Sequence[Path], beside: Surroundings, renderer: Renderer
) -> tuple[list[Draft], list[FileFault]]:
    """The drafts of the files without faults, and the faults of the others."""
    found, faults = read_files(files, partial(read_campaign, around=beside))
    drafts: list[Draft] = []
    of_name: dict[str, str] = {}
    for file, read in found:
        try:
            campaign = await tried(read, renderer)
        except DocumentFaults as error:
            faults += [FileFault(Path(file), fault) for fault in error.faults]
            continue
        if campaign.name in of_name:
            twice = Fault("name", f"{of_name[campaign.name]} is a draft of {campaign.name} too")
            faults.append(FileFault(Path(file), twice))
        else:
            of_name[campaign.name] = file
            drafts.append(Draft(file, campaign))
    return drafts, faults


async def faultless(files: Sequence[Path], beside: Surroundings) -> list[Draft]:
    """Raises `DocumentFaults` with every fault of each file."""
    async with rendering() as renderer:
        drafts, faults = await read_drafts(files, beside, renderer)
    refuse(faults)
    return drafts


def plan_of(draft: Draft, latest: Mapping[str, CampaignRecord]) -> Plan:
    """A version that is over is no version to compare with: the same document starts anew."""
    record = latest.get(draft.campaign.name)
    if record is None:
        return Plan(draft, None, describe_changes(None, draft.campaign))
    changes = describe_changes(record.campaign, draft.campaign)
    if not changes and record.status is Status.ENDED:
        changes = [f"starts anew: {record.campaign.label} is ended"]
    return Plan(draft, record.campaign.label, changes)


async def publish_files(files: Sequence[Path], *, ask: bool, as_json: bool) -> None:
    """Say what the drafts change, ask, and submit the drafts with a change: all of them, or none. Raises `Refused`."""
    say = partial(typer.echo, err=as_json)  # standard output is for the one document
    async with pool() as connections:
        store, at = CampaignStore(connections), await acting(connections)
        _check_asks(at)
        beside = await around(connections, at)
        drafts = await faultless(files, beside)
        for draft in drafts:
            at.check(Deed.EDIT_CAMPAIGNS, draft.campaign.country)
        latest = {record.campaign.name: record for record in await store.latest()}
        plans = [plan_of(draft, latest) for draft in drafts]
        changing = agreed(plans, "the campaigns are there already", ask=ask, say=say)
        entries = [
            _logged(at, plan.draft.campaign, did, **details)
            for plan in changing
            for did, details in (("draft", {"changes": plan.changes}), ("submit", {}))
        ]
        change = Change(at.actor.source, at.clock.now())
        records = await store.publish([each.draft.campaign for each in changing], beside, change, together(*entries))
        rows = [
            {"file": plan.file, "against": plan.against, "changes": plan.changes}
            | await _ask(connections, at, record, say)
            for plan, record in zip(changing, records, strict=True)
        ]
    if as_json:
        print_json({"submitted": rows, "unchanged": unchanged(plans)})


async def submit(connections: Pool, at: Acting, name: str, beside: Surroundings, say: Say) -> dict[str, object]:
    """Submit the latest version, and ask for the second person. Raises `Refused`."""
    _check_asks(at)
    store = CampaignStore(connections)
    history = await store.history(name)
    if not history:
        raise absent("campaign", name, "`abacus campaigns list` prints all")
    latest = history[-1].campaign
    async with rendering() as renderer:
        await tried_campaign(to_document(latest), beside, renderer)
    also = _logged(at, latest, "submit")
    record = await store.submit(name, beside, Change(at.actor.source, at.clock.now()), also)
    return await _ask(connections, at, record, say)


def _check_asks(at: Acting) -> None:
    """Before anything is written: nobody could approve what a login submits. Raises `Refused`."""
    try:
        check_asks(at.actor.source)
    except CannotDecide as error:
        raise Refused(error.detail) from None


def _logged(at: Acting, campaign: Campaign, did: str, **details: object) -> Also:
    subject = f"campaign:{campaign.name}"
    return at.does(Deed.EDIT_CAMPAIGNS, subject, country=campaign.country, did=did, **details)


async def _ask(connections: Pool, at: Acting, record: CampaignRecord, say: Say) -> dict[str, object]:
    """Ask for the second person."""
    label = record.campaign.label
    history = await CampaignStore(connections).history(record.campaign.name)
    in_force = next((each.campaign for each in history if each.in_force), None)
    proposal = campaign_proposal(record.campaign, describe_changes(in_force, record.campaign))
    try:
        approval = await large_moves(connections, at).approvals.ask(proposal, at.actor.agent)
    except CannotDecide as error:
        raise Refused(f"{label} is submitted, but {error.detail}") from None
    say(f"{label} is submitted: another person approves it with `abacus approvals approve {approval.approval_id}`")
    return {"name": label, "approval": approval_document(approval)}
