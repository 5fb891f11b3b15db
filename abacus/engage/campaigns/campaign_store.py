"""Campaigns in Postgres: versions of a campaign count from 1, no document is ever changed, and each has a state."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.core.errors import Refused, Unavailable, absent
from abacus.core.fields import DocumentFaults, Fault
from abacus.documents.decide.states import Act, State, Status, check_step, may_follow, state_at
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import CampaignFaults, parse_campaign, restore_campaign
from abacus.engage.campaigns.decide.cycles import cycle_through
from abacus.engage.campaigns.decide.document import to_document
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, arrays, columns, parameters, unnested

DEPENDENCY: Final = "campaigns"
_AT_ONCE: Final = 100  # documents, of which each takes a fifth of a millisecond to read
LATE: Final = timedelta(days=1)  # events that come so long after the end of a campaign are still decided
NONE_KNOWN: Final[Mapping[str, Campaign]] = MappingProxyType({})


class CampaignRecord(NamedTuple):
    """A version with everything that is known of it."""

    campaign: Campaign
    status: Status
    drafted_at: datetime
    drafted_by: str
    changed_at: datetime
    changed_by: str
    approved_by: str | None
    approved_at: datetime | None
    reason: str | None

    @property
    def in_force(self) -> bool:
        """Whether it is approved and not over: running, or paused."""
        return self.status in {Status.APPROVED, Status.PAUSED}

    def state(self, now: datetime) -> State:
        return state_at(self.campaign, self.status, now)


class _Row(NamedTuple):
    """A row of `campaign`; `document` is None where it was not read."""

    name: str
    version: int
    country: str
    starts_at: datetime
    ends_at: datetime
    document: str | None
    status: str
    drafted_at: datetime
    drafted_by: str
    changed_at: datetime
    changed_by: str
    approved_by: str | None
    approved_at: datetime | None
    reason: str | None

    @property
    def label(self) -> str:
        return f"{self.name}@{self.version}"


class Change(NamedTuple):
    """Who brings a version to another state, when and why. `approved_by` is the second person, where there is one."""

    by: str
    now: datetime
    reason: str | None = None
    approved_by: str | None = None


class _Version(NamedTuple):
    """The key of a row of `campaign`."""

    name: str
    version: int


_LOCK: Final = Statement("select pg_advisory_xact_lock(hashtext('campaign'))")
_INSERT: Final = Statement(f"insert into campaign ({columns(_Row)}) values ({parameters(_Row)})")
_LATEST: Final = Statement(f"select distinct on (name) {columns(_Row)} from campaign order by name, version desc")
_HISTORY: Final = Statement(f"select {columns(_Row)} from campaign where name = :name order by version")
# The states as `state_at` tells them.
_PAGE: Final = Statement(f"""
select {columns(_Row)} from (
    select distinct on (name) {columns(_Row)},
        case when status in ('approved', 'paused') and :now >= ends_at then 'ended'
            when status <> 'approved' then status
            when :now >= starts_at then 'running' else 'scheduled' end as state
    from campaign
    where (:after::text is null or name > :after) and (:countries::text[] is null or country = any(:countries))
    order by name, version desc
) latest
where :state::text is null or state = :state order by name limit :limit
""")
_BESIDE: Final = Statement(f"""
select {columns(_Row)} from campaign where status in ('submitted', 'approved', 'paused') order by name, version
""")
_OF_GROUP: Final = Statement(f"""
select {columns(_Row)} from campaign
where approved_at is not null and document ->> 'exclusive' = :exclusive and name <> :name order by name, version
""")
_IN_FORCE: Final = Statement(f"""
select {columns(_Row, "c").replace("c.document", "null")} from campaign c
where c.status = 'approved' and c.ends_at > :since
""")
_DOCUMENTS: Final = Statement(f"""
select c.name, c.version, c.document from {unnested(_Version)}
join campaign c on c.name = u.name and c.version = u.version
""")
_SET: Final = Statement("""
update campaign set status = :status, changed_at = :now, changed_by = :by, reason = :reason,
    approved_by = coalesce(approved_by, :approved_by),
    approved_at = coalesce(approved_at, case when :approved_by::text is not null then :now::timestamptz end)
where name = :name and version = :version
""")


class CampaignStore:
    """Reads campaigns and changes their states. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def draft(
        self, drafts: Sequence[Campaign], around: Surroundings, *, by: str, also: Also = nothing_else
    ) -> list[Campaign]:
        """Gives each campaign its next version, a draft; all of them, or none. A draft before it is ended. A name
        belongs to its first country.

        Raises `CampaignFaults` for a campaign that does not fit what is published, and `Refused` for a version that is
        there.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            numbered = [await _drafted(connection, draft, around, Change(by, around.now)) for draft in drafts]
            await also(connection)
            return numbered

    async def publish(
        self, drafts: Sequence[Campaign], around: Surroundings, change: Change, also: Also = nothing_else
    ) -> list[CampaignRecord]:
        """Drafts a version of each and submits it; all of them, or none. Raises as `draft` and `submit` do."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            for draft in drafts:
                await _drafted(connection, draft, around, change)
            submitted = [await _submitted(connection, draft.name, around, change) for draft in drafts]
            await also(connection)
            return submitted

    async def submit(
        self, name: str, around: Surroundings, change: Change, also: Also = nothing_else
    ) -> CampaignRecord:
        """The latest version of a campaign, which waits for approval from now on. It is judged again. Raises
        `CampaignFaults` and `Refused`.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            submitted = await _submitted(connection, name, around, change)
            await also(connection)
            return submitted

    async def approve(
        self, name: str, version: int, around: Surroundings, change: Change, also: Also = nothing_else
    ) -> CampaignRecord:
        """The version is in force, and the one before is not any more. It is judged again. Raises `CampaignFaults` and
        `Refused`.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            history = await _history(connection, name)
            record = _versioned(name, version, history)
            await _judge(connection, record.campaign, around)
            for before in history:
                if before.campaign.version != version and before.status is not Status.ENDED:
                    replaced = change._replace(reason=f"replaced by {record.campaign.label}")
                    await _set(connection, before, Status.ENDED, replaced)
            approved = await _step(connection, record, Act.APPROVE, change)
            await also(connection)
            return approved

    async def move(
        self, name: str, version: int | None, act: Act, change: Change, also: Also = nothing_else
    ) -> CampaignRecord:
        """Pauses, resumes, withdraws, exhausts or ends a version. Without one it is the version in force if the act can
        be done to that, or else the latest. Raises `Refused`.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            history = await _history(connection, name)
            record = _versioned(name, version, history) if version is not None else _in_question(name, act, history)
            moved = await _step(connection, record, act, change)
            await also(connection)
            return moved

    async def latest(self) -> list[CampaignRecord]:
        """The latest version of each campaign, by name."""
        async with passing_failures():
            return [_record(_Row(*row)) for row in await self._pool.fetch(*_LATEST())]

    async def page(
        self,
        now: datetime,
        *,
        countries: Sequence[str] | None = None,
        state: State | None = None,
        after: str | None = None,
        limit: int,
    ) -> list[CampaignRecord]:
        """The latest version of each campaign of these countries, or of all, by name from behind `after` on."""
        given = {"countries": countries if countries is None else list(countries), "state": state, "after": after}
        async with passing_failures():
            rows = await self._pool.fetch(*_PAGE(**given, now=now, limit=limit))
        return [_record(_Row(*row)) for row in rows]

    async def history(self, name: str) -> list[CampaignRecord]:
        """All versions of a campaign."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _history(connection, name)

    async def beside(self, campaign: Campaign) -> list[CampaignRecord]:
        """Every version that was ever approved of the other campaigns of its exclusive group."""
        if campaign.exclusive is None:
            return []
        async with passing_failures():
            rows = await self._pool.fetch(*_OF_GROUP(exclusive=campaign.exclusive, name=campaign.name))
        return [_record(_Row(*row)) for row in rows]

    async def in_force(self, now: datetime, known: Mapping[str, Campaign] = NONE_KNOWN) -> list[Campaign]:
        """The versions that are approved and not paused, and versions that ended a while ago. Documents that are known
        by their labels are not read again.
        """
        async with passing_failures(), self._pool.acquire() as connection:
            rows = [_Row(*row) for row in await connection.fetch(*_IN_FORCE(since=now - LATE))]
            read = {**known}
            unread = [row for row in rows if row.label not in known]
            for first in range(0, len(unread), _AT_ONCE):  # others work in between
                for row in await _documented(connection, unread[first : first + _AT_ONCE]):
                    read[row.label] = _record(row).campaign
        return [read[row.label] for row in rows]


async def _drafted(connection: Connection, draft: Campaign, around: Surroundings, change: Change) -> Campaign:
    """The next version of a campaign, which ends a draft before it. Raises `CampaignFaults` and `Refused`."""
    judged = parse_campaign(to_document(draft), around)
    history = await _history(connection, judged.name)
    before = history[-1] if history else None
    if before is not None and before.campaign.country != judged.country:
        raise Refused(f"{judged.name} is a campaign of {before.campaign.country}: write another name")
    if before is not None and before.status is not Status.ENDED and _same(before.campaign, judged):
        raise Refused(f"{before.campaign.label} is this campaign already, and {before.status}")
    campaign = judged.numbered(before.campaign.version + 1 if before is not None else 1)
    if before is not None and before.status in {Status.DRAFT, Status.SUBMITTED}:
        await _set(connection, before, Status.ENDED, change._replace(reason=f"replaced by {campaign.label}"))
    await connection.execute(*_INSERT(**_row(campaign, change)._asdict()))
    return campaign


async def _submitted(connection: Connection, name: str, around: Surroundings, change: Change) -> CampaignRecord:
    """The latest version, which waits for approval from now on. Raises `CampaignFaults` and `Refused`."""
    record = _named(name, await _history(connection, name))
    await _judge(connection, record.campaign, around)
    return await _step(connection, record, Act.SUBMIT, change)


async def _documented(connection: Connection, rows: Sequence[_Row]) -> list[_Row]:
    """The rows with their documents, which are never changed."""
    wanted = arrays(_Version, [_Version(row.name, row.version) for row in rows])
    found = {(row[0], row[1]): row[2] for row in await connection.fetch(*_DOCUMENTS(**wanted))}
    return [row._replace(document=found[row.name, row.version]) for row in rows]


async def _judge(connection: Connection, campaign: Campaign, around: Surroundings) -> None:
    """Raises `CampaignFaults` for what does not fit what is published now, or would set itself off."""
    parse_campaign(to_document(campaign), around)
    beside = [_record(_Row(*row)) for row in await connection.fetch(*_BESIDE())]
    path = cycle_through(campaign, [each.campaign for each in beside if each.campaign.name != campaign.name])
    if path is not None:
        raise CampaignFaults([Fault("steps", f"would set itself off without end: {' → '.join(path)}")])


async def _step(connection: Connection, record: CampaignRecord, act: Act, change: Change) -> CampaignRecord:
    return await _set(connection, record, check_step(record.campaign, record.status, act, change.now), change)


async def _set(connection: Connection, record: CampaignRecord, to: Status, change: Change) -> CampaignRecord:
    campaign = record.campaign
    await connection.execute(*_SET(name=campaign.name, version=campaign.version, status=to.value, **change._asdict()))
    return record._replace(
        status=to,
        changed_at=change.now,
        changed_by=change.by,
        reason=change.reason,
        approved_by=record.approved_by or change.approved_by,
        approved_at=record.approved_at or (change.now if change.approved_by is not None else None),
    )


async def _history(connection: Connection, name: str) -> list[CampaignRecord]:
    return [_record(_Row(*row)) for row in await connection.fetch(*_HISTORY(name=name))]


def _named(name: str, history: Sequence[CampaignRecord]) -> CampaignRecord:
    if not history:
        raise absent("campaign", name, "`abacus campaigns list` prints all")
    return history[-1]


def _versioned(name: str, version: int, history: Sequence[CampaignRecord]) -> CampaignRecord:
    _named(name, history)
    for record in history:
        if record.campaign.version == version:
            return record
    raise Refused(f"{name} has no version {version}; `abacus campaigns list {name}` prints all")


def _in_question(name: str, act: Act, history: Sequence[CampaignRecord]) -> CampaignRecord:
    latest = _named(name, history)
    return next((each for each in history if each.in_force and may_follow(each.status, act)), latest)


def _same(one: Campaign, other: Campaign) -> bool:
    return to_document(one) == to_document(other)


def _row(campaign: Campaign, change: Change) -> _Row:
    return _Row(
        name=campaign.name,
        version=campaign.version,
        country=campaign.country,
        starts_at=campaign.starts_at,
        ends_at=campaign.ends_at,
        document=json.dumps(to_document(campaign)),
        status=Status.DRAFT.value,
        drafted_at=change.now,
        drafted_by=change.by,
        changed_at=change.now,
        changed_by=change.by,
        approved_by=None,
        approved_at=None,
        reason=None,
    )


def _record(row: _Row) -> CampaignRecord:
    """A newer Abacus may have published a campaign that this one cannot read: its events wait for the upgrade."""
    try:
        campaign = _restored(row, row.document or "")
    except DocumentFaults as faults:
        fault = faults.faults[0]
        raise Unavailable(DEPENDENCY, f"this version of Abacus cannot read {row.label}: {fault}") from faults
    return CampaignRecord(campaign, Status(row.status), *row[7:])


def _restored(row: _Row, document: str) -> Campaign:
    """It answers to nothing that happened before it was approved."""
    campaign = restore_campaign(json.loads(document), row.version)
    return campaign if row.approved_at is None else replace(campaign, approved_at=row.approved_at)


def labelled(campaigns: Iterable[Campaign]) -> Mapping[str, Campaign]:
    return {campaign.label: campaign for campaign in campaigns}
