"""The downstreams with their secrets: in Postgres, and as each process keeps them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.errors import Refused
from abacus.documents.store import DocumentStore, named, publishing
from abacus.documents.types import Record, Version, documents
from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind
from abacus.engage.downstreams.kind import DOWNSTREAMS, Allowed
from abacus.platform.encryption import SecretPlace, Secrets
from abacus.platform.fresh_copy import FreshCopy
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.secret_rotation import SecretColumn
from abacus.platform.sql import Statement, columns, parameters


def secret_of(name: str) -> SecretPlace:
    return SecretPlace("downstream_secret", "secret", name)


def former_secret_of(name: str) -> SecretPlace:
    return SecretPlace("downstream_secret", "former_secret", name)


SECRET_COLUMNS: Final = tuple(SecretColumn(place, "name") for place in (secret_of, former_secret_of))


class Signed(NamedTuple):
    """A downstream, and the stored secrets that sign what it gets."""

    downstream: Downstream
    secret: str | None
    former_secret: str | None


class _Secret(NamedTuple):
    """A row of `downstream_secret`."""

    name: str
    secret: str
    former_secret: str | None
    former_secret_until: datetime | None


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


class DownstreamStore(DocumentStore[Downstream, Allowed]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, secrets: Secrets | None = None) -> None:
        super().__init__(pool, DOWNSTREAMS)
        self._secrets = secrets or Secrets()

    async def give_secret(self, connection: Connection, downstream: Downstream, secret: str) -> bool:
        """In the transaction that publishes it; and whether the secret is its own now. A downstream that has a secret
        keeps it, and one of our own gets none.
        """
        if downstream.kind is DownstreamKind.OWN:
            return False
        stored = await self._secrets.to_store(secret, secret_of(downstream.name))
        return bool(await connection.fetchval(*_GIVE(**_Secret(downstream.name, stored, None, None)._asdict())))

    async def retire(self, name: str, *, by: str, now: datetime, also: Also = nothing_else) -> Record[Downstream]:
        """From now on nothing is sent to it and nothing is asked of it. Raises `Refused`."""
        async with publishing(self._pool, self._reader) as connection:
            record = _existing(name, await self._reader.latest(connection))
            number = record.version.number + 1
            retired = replace(record.document, version=number, retired=True)
            inserted = await self._reader.insert(connection, retired, Version(name, number, now, by, None, {}))
            await also(connection)
            return inserted

    async def signed(self, now: datetime) -> list[Signed]:
        """The latest version of each downstream, with the stored secrets that sign now."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            latest = documents(await self._reader.latest(connection))
            secrets = {row["name"]: _Secret(*row) for row in await connection.fetch(*_SECRETS())}
        return [_signed(each, secrets.get(each.name), now) for each in latest]

    async def rotate_secret(
        self, name: str, secret: str, *, overlap: timedelta, now: datetime, also: Also = nothing_else
    ) -> datetime:
        """Replaces the secret, and returns until when the old one signs too. Raises `Refused`, and `SecretUnreadable`
        for an old secret that is to sign and cannot be read.
        """
        until = now + overlap
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            _existing(name, await self._reader.latest(connection))
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


def _existing(name: str, latest: Sequence[Record[Downstream]]) -> Record[Downstream]:
    """Raises `Refused`, also for a downstream that is retired."""
    return named(DOWNSTREAMS, name, [each for each in latest if not each.document.retired])


def _signed(downstream: Downstream, secret: _Secret | None, now: datetime) -> Signed:
    if secret is None:
        return Signed(downstream, None, None)
    former_holds = secret.former_secret_until is not None and secret.former_secret_until > now
    return Signed(downstream, secret.secret, secret.former_secret if former_holds else None)


ByName = Mapping[str, Signed]


class DownstreamDirectory(FreshCopy[Sequence[Signed], ByName]):
    """Serves the latest version of each downstream by its name, with its secrets; retired ones among them."""

    def __init__(self, load: Callable[[], Awaitable[Sequence[Signed]]]) -> None:
        super().__init__(
            DOWNSTREAMS.plural, lambda _: load(), lambda rows: {each.downstream.name: each for each in rows}
        )

    def by_name(self) -> ByName:
        """Raises `Unavailable` when they were never read."""
        return self.value()
