"""The requests in Postgres."""

from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Final
from uuid import UUID

from abacus.intake.partners.requests.types import Earlier, Noted
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, unnested

_ADD: Final = Statement(f"""
insert into partner_request ({columns(Noted)})
select u.* from {unnested(Noted, took_s="float8")} on conflict do nothing
""")
_LAST_ID: Final = UUID(int=2**128 - 1)
_BEHIND: Final = f"""
select {columns(Noted)} from partner_request
where partner_id = :partner_id
    and (at, noted_id) < (coalesce(:at::timestamptz, 'infinity'), coalesce(:noted_id::uuid, '{_LAST_ID}'))"""
_FROM_THE_NEWEST: Final = "order by at desc, noted_id desc limit :limit"
_LATEST: Final = Statement(f"{_BEHIND} {_FROM_THE_NEWEST}")
_REFUSED: Final = Statement(f"{_BEHIND} and status >= {HTTPStatus.BAD_REQUEST:d} {_FROM_THE_NEWEST}")  # as its index
_NAMED: Final = Statement(f"""
select {columns(Noted)} from partner_request
where partner_id = :partner_id and request_id = :request_id order by at desc limit :limit
""")
_FORGET: Final = Statement("delete from partner_request where at < :before")


class RequestStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, noted: Sequence[Noted]) -> None:
        """A request that is noted already stays as it is."""
        async with passing_failures():
            await self._pool.execute(*_ADD(**arrays(Noted, noted)))

    async def latest(
        self, partner_id: str, *, refused: bool, limit: int, before: Earlier | None = None
    ) -> Sequence[Noted]:
        """The newest requests of a partner, the newest first; all, or only `refused` requests."""
        at, noted_id = before or (None, None)
        statement = _REFUSED if refused else _LATEST
        asked = statement(partner_id=partner_id, at=at, noted_id=noted_id, limit=limit)
        async with passing_failures():
            rows = await self._pool.fetch(*asked)
        return [Noted(*row) for row in rows]

    async def named(self, partner_id: str, request_id: str, *, limit: int) -> Sequence[Noted]:
        """The newest of a partner with this id: a partner that names its requests may use a name twice."""
        async with passing_failures():
            rows = await self._pool.fetch(*_NAMED(partner_id=partner_id, request_id=request_id, limit=limit))
        return [Noted(*row) for row in rows]

    async def forget(self, before: datetime) -> None:
        """Deletes the requests before that time."""
        async with passing_failures():
            await self._pool.execute(*_FORGET(before=before))
