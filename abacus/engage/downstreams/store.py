"""Published downstreams in Postgres: versions count from 1, and the latest is in force until it is retired."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from abacus.core.errors import Refused, Unavailable, absent
from abacus.core.fields import DocumentFaults
from abacus.engage.downstreams.decide.downstream import Downstream, Kind
from abacus.engage.downstreams.decide.reading import changes, faults_after, restore_downstream, to_document
from abacus.engage.downstreams.secret_places import former_secret_of, secret_of
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, columns, parameters

DEPENDENCY: Final = "downstreams"


class DownstreamRecord(NamedTuple):
    """A version, with who published it."""

    downstream: Downstream
    published_at: datetime
    published_by: str


class Signed(NamedTuple):
    """A downstream, and the stored secrets that sign what it gets."""

    downstream: Downstream
    secret: str | None
    former_secret: str | None


class _Row(NamedTuple):
    """A row of `downstream`."""

    name: str
    version: int
    document: str
    retired: bool
    published_at: datetime
    published_by: str


class _Secret(NamedTuple):
    """A row of `downstream_secret`."""

    name: str
    secret: str
    former_secret: str | None
    former_secret_until: datetime | None


_LOCK: Final = Statement("select pg_advisory_xact_lock(hashtext('downstream'))")
_LATEST: Final = Statement(f"""
select distinct on (name) {columns(_Row)} from downstream order by name, version desc
""")
_HISTORY: Final = Statement(f"select {columns(_Row)} from downstream where name = :name order by version")
_INSERT: Final = Statement(f"insert into downstream ({columns(_Row)}) values ({parameters(_Row)})")
_GIVE: Final = Statement(f"""
insert into downstream_secret ({columns(_Secret)}) values ({parameters(_Secret)}) on conflict (name) do nothing
returning name
""")
_SECRETS: Final = Statement(f"select {columns(_Secret)} from downstream_secret")
_SECRET: Final = Statement("select secret from downstream_secret where name = :name for update")
_ROTATE: Final = Statement("""
update downstream_secret set former_secret = :former, former_secret_until = :until, secret = :secret
where name = :name
""")


class DownstreamStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, secrets: Secrets | None = None) -> None:
        self._pool = pool
        self._secrets = secrets or Secrets()

    async def publish(
        self, draft: Downstream, secret: str, *, by: str, now: datetime, also: Also = nothing_else
    ) -> tuple[Downstream, bool]:
        """Gives the downstream its next version; and whether the secret is its own now: one that has a secret keeps it.
        Raises `DocumentFaults`, and `Refused` when its latest version is the same already.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            before = {each.downstream.name: each.downstream for each in await _latest(connection)}.get(draft.name)
            if faults := list(faults_after(before, draft)):
                raise DocumentFaults(faults)
            if before is not None and not changes(before, draft):
                raise Refused(f"{before.label} is this downstream already: nothing to publish")
            downstream = draft.published(before.version + 1 if before is not None else 1)
            await _insert(connection, downstream, by, now)
            is_new = False
            if downstream.kind is not Kind.OWN:
                stored = await self._secrets.to_store(secret, secret_of(draft.name))
                is_new = bool(await connection.fetchval(*_GIVE(**_Secret(draft.name, stored, None, None)._asdict())))
            await also(connection)
            return downstream, is_new

    async def retire(self, name: str, *, by: str, now: datetime, also: Also = nothing_else) -> Downstream:
        """From now on nothing is sent to it and nothing is asked of it. Raises `Refused`."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            before = _existing(name, await _latest(connection))
            retired = replace(before, version=before.version + 1, retired=True)
            await _insert(connection, retired, by, now)
            await also(connection)
            return retired

    async def latest(self) -> list[DownstreamRecord]:
        """The latest version of each downstream, by name; those that are retired among them."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _latest(connection)

    async def history(self, name: str) -> list[DownstreamRecord]:
        async with passing_failures():
            return [_record(row) for row in await self._pool.fetch(*_HISTORY(name=name))]

    async def signed(self, now: datetime) -> list[Signed]:
        """The latest version of each downstream, with the stored secrets that sign now."""
        async with passing_failures(), self._pool.acquire() as connection:
            latest = await _latest(connection)
            secrets = {row["name"]: _Secret(*row) for row in await connection.fetch(*_SECRETS())}
        return [_signed(each.downstream, secrets.get(each.downstream.name), now) for each in latest]

    async def rotate_secret(
        self, name: str, secret: str, *, overlap: timedelta, now: datetime, also: Also = nothing_else
    ) -> datetime:
        """Replaces the secret, and returns until when the old one signs too. Raises `Refused`, and `SecretUnreadable`
        for an old secret that is to sign and cannot be read.
        """
        until = now + overlap
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            _existing(name, await _latest(connection))
            stored = await connection.fetchval(*_SECRET(name=name))
            if stored is None:
                raise Refused(f"{name} has no secret: nothing that it gets is signed")
            former: str | None = None
            if overlap:  # bound to its column, so it is encrypted anew for the other one
                old = await self._secrets.read(stored, secret_of(name))
                former = await self._secrets.to_store(old, former_secret_of(name))
            new = await self._secrets.to_store(secret, secret_of(name))
            await connection.execute(*_ROTATE(name=name, secret=new, former=former, until=until if overlap else None))
            await also(connection)
        return until


async def valid_secrets(secrets: Secrets, signed: Signed) -> tuple[str, ...]:
    """The secrets that sign, from the stored texts. Raises `SecretUnreadable`."""
    name = signed.downstream.name
    valid = []
    if signed.secret is not None:
        valid.append(await secrets.read(signed.secret, secret_of(name)))
    if signed.former_secret is not None:
        valid.append(await secrets.read(signed.former_secret, former_secret_of(name)))
    return tuple(valid)


async def _latest(connection: Connection) -> list[DownstreamRecord]:
    return [_record(row) for row in await connection.fetch(*_LATEST())]


async def _insert(connection: Connection, downstream: Downstream, by: str, now: datetime) -> None:
    row = _Row(
        name=downstream.name,
        version=downstream.version,
        document=json.dumps(to_document(downstream)),
        retired=downstream.retired,
        published_at=now,
        published_by=by,
    )
    await connection.execute(*_INSERT(**row._asdict()))


def _existing(name: str, latest: Sequence[DownstreamRecord]) -> Downstream:
    found = [each.downstream for each in latest if each.downstream.name == name and not each.downstream.retired]
    if not found:
        raise absent("downstream", name, "`abacus downstreams list` prints all")
    return found[0]


def _signed(downstream: Downstream, secret: _Secret | None, now: datetime) -> Signed:
    if secret is None:
        return Signed(downstream, None, None)
    former_holds = secret.former_secret_until is not None and secret.former_secret_until > now
    return Signed(downstream, secret.secret, secret.former_secret if former_holds else None)


def _record(record: Any) -> DownstreamRecord:
    """A newer Abacus may have published one that this one cannot read: then what needs it waits for the upgrade."""
    row = _Row(*record)
    try:
        downstream = restore_downstream(json.loads(row.document), row.version, retired=row.retired)
    except DocumentFaults as faults:
        label = f"{row.name}@{row.version}"
        raise Unavailable(DEPENDENCY, f"this version of Abacus cannot read {label}: {faults.faults[0]}") from faults
    return DownstreamRecord(downstream, row.published_at, row.published_by)
