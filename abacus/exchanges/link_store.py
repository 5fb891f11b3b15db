"""Links in Postgres. A number lies there encrypted, and is found by its digest."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import asyncpg

from abacus.core.errors import Refused, Unavailable
from abacus.exchanges.decide.link import (
    UNKNOWN_SHOWN,
    Link,
    LinkFault,
    LinkRefused,
    LinkState,
    LinkWay,
    check_code_is_open,
    check_may_ask,
    check_sign_in_is_open,
    is_code,
    number_digest,
    shown,
    wrong_code,
    wrong_sign_in,
)
from abacus.exchanges.types import Account
from abacus.platform.digest_keys import DigestKeys
from abacus.platform.encryption import SecretPlace, Secrets, SecretUnreadable
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures, rows_changed
from abacus.platform.secret_rotation import SecretColumn
from abacus.platform.sql import Statement, columns

_KEY_NAME: Final = "links"
_KEYS: Final = DigestKeys("exchange_key", "account numbers")
_LINK: Final = columns(Link)
_TABLE: Final = "exchange_link"

_ALONE: Final = Statement("select pg_advisory_xact_lock(hashtext(:place))")
_ENTER: Final = Statement("""
insert into exchange_link (link_id, programme, partner, member_id, digest, number, holder, shown, state, code_digest,
    code_until, asked_at, asked_by, way, verifier, redirect_uri)
values (:link_id, :programme, :partner, :member_id, :digest, :number, :holder, :shown, 'asked', :code_digest,
    :code_until, :now, :by, :way, :verifier, :redirect_uri)
""")
_OPEN: Final = Statement(f"""
select {_LINK}, coalesce(digest = :digest, false) as is_same from exchange_link
where programme = :programme and member_id = :member_id and ended_at is null for update
""")
_TAKEN: Final = Statement("""
select exists (select from exchange_link where programme = :programme and digest = :digest and ended_at is null
    and verified_at is not null and member_id <> :member_id)
""")
_ONE: Final = f"select {_LINK} from exchange_link where link_id = :link_id"
_FIND: Final = Statement(_ONE)
_HOLD: Final = Statement(f"{_ONE} for update")
_CODE: Final = Statement("select code_digest from exchange_link where link_id = :link_id")
_SIGN_IN: Final = Statement("""
select code_digest, code_until, verifier, redirect_uri from exchange_link where link_id = :link_id
""")
_TAKE_SIGN_IN: Final = Statement("""
update exchange_link set code_digest = null, code_until = null, verifier = null, redirect_uri = null
where link_id = :link_id
""")
_GIVE_SIGN_IN_BACK: Final = Statement("""
update exchange_link set code_digest = :code_digest, code_until = :code_until, verifier = :verifier,
    redirect_uri = :redirect_uri
where link_id = :link_id and state = 'asked' and ended_at is null
""")
_OF_MEMBER: Final = Statement(f"""
select {_LINK} from exchange_link where member_id = :member_id order by asked_at desc, link_id limit :most
""")
_AT: Final = Statement(f"""
select {_LINK} from exchange_link where programme = :programme and member_id = :member_id and ended_at is null
""")
_OF_NUMBER: Final = Statement(f"""
select {_LINK} from exchange_link
where programme = :programme and digest = :digest and ended_at is null and verified_at is not null
""")
_OF_ID: Final = Statement(f"""
select {_LINK} from exchange_link
where programme = :programme and link_id = :link_id and ended_at is null and verified_at is not null
""")
_STORED: Final = Statement("""
select link_id, number, holder from exchange_link where link_id = any(:link_ids::uuid[]) and number is not null
""")
_TRIED: Final = Statement("update exchange_link set tries = tries + 1 where link_id = :link_id returning tries")
_VERIFIED: Final = Statement("""
update exchange_link set state = 'verified', verified_at = :now, usable_from = :usable_from, way = :way,
    code_digest = null, code_until = null, verifier = null, redirect_uri = null
where link_id = :link_id and state = 'asked' and ended_at is null
""")
_TOLD: Final = Statement("""
update exchange_link set digest = :digest, number = :number, holder = :holder, shown = :shown
where link_id = :link_id and state = 'asked' and ended_at is null
""")
# Exchanges that are open go on, and the partner is told the number, so an ended link keeps it.
_END: Final = Statement("""
update exchange_link set state = :state, ended_at = :now, ended_by = :by, reason = :reason, code_digest = null,
    code_until = null, verifier = null, redirect_uri = null
where link_id = :link_id and ended_at is null
""")
# Attempts with numbers of the member go before the digests do.
_FORGET_ATTEMPTS: Final = Statement("""
delete from exchange_link_attempt a using (
    select 'member:' || :member_id::text as owner
    union select 'number:' || encode(digest, 'hex') from exchange_link where member_id = :member_id
) o where a.owner = o.owner
""")
_FORGET_LINKS: Final = Statement("""
update exchange_link set member_id = :pseudonym, digest = null, number = null, holder = null, shown = :word,
    code_digest = null, code_until = null, verifier = null, redirect_uri = null, reason = :word,
    state = case when ended_at is null then 'ended' else state end,
    ended_at = coalesce(ended_at, now()), ended_by = coalesce(ended_by, :word)
where member_id = :member_id
""")
# A name belongs to its first country.
_COUNTRIES: Final = Statement("""
select distinct name, country from exchange_programme where name = any(:names::text[])
""")
_OVER: Final = Statement("delete from exchange_link_attempt where day < :day")
_ATTEMPT: Final = Statement("""
insert into exchange_link_attempt (day, owner, attempts) values (:day, :owner, 1)
on conflict (day, owner) do update set attempts = exchange_link_attempt.attempts + 1 returning attempts
""")
_UNCOUNT: Final = Statement("""
update exchange_link_attempt set attempts = attempts - 1
where day = :day and owner = any(:owners::text[]) and attempts > 0
""")
_KEPT: Final = timedelta(days=1)  # of attempts, beside the day itself


def number_place(link_id: object) -> SecretPlace:
    return SecretPlace(_TABLE, "number", str(link_id))


def holder_place(link_id: object) -> SecretPlace:
    return SecretPlace(_TABLE, "holder", str(link_id))


def verifier_place(link_id: object) -> SecretPlace:
    return SecretPlace(_TABLE, "verifier", str(link_id))


_PLACES: Final = (number_place, holder_place, verifier_place)
LINK_SECRETS: Final = (*(SecretColumn(place, "link_id") for place in _PLACES), _KEYS.column)


class Begun(NamedTuple):
    """A sign-in at the partner that was begun."""

    verifier: str
    redirect_uri: str


class Asked(NamedTuple):
    """A link that is asked for. The digests are of its number, which only the partner tells at a sign-in, and of the
    code that is sent, or of the state that the partner sends back.
    """

    link_id: UUID
    programme: str
    partner: str
    member_id: str
    digest: bytes | None
    code_digest: bytes | None
    code_until: datetime | None
    begun: Begun | None = None


class Verified(NamedTuple):
    """When a link was verified, by what, and from when on it may be used."""

    now: datetime
    usable_from: datetime
    way: LinkWay


class Taken(NamedTuple):
    """A sign-in that was taken to ask the partner about it, with what lay in the row."""

    begun: Begun
    stored: Mapping[str, Any]


class Ending(NamedTuple):
    """How a link ends."""

    state: LinkState
    by: str
    reason: str


class LinkStore:
    """Every method raises `Unavailable` while the database is away, or a secret of the house is not to be read.
    `documents`: where programmes are published, if that is elsewhere.
    """

    def __init__(self, pool: Pool, secrets: Secrets, *, documents: Pool | None = None) -> None:
        self._pool = pool
        self._documents = documents or pool
        self._secrets = secrets
        self._key: bytes | None = None

    async def key(self) -> bytes:
        """Of the digests. It never changes."""
        if self._key is None:
            try:
                self._key = await _KEYS.key(self._pool, self._secrets, _KEY_NAME)
            except (Refused, SecretUnreadable) as fault:
                raise Unavailable("links", str(fault)) from None
        return self._key

    async def attempt(self, owners: Sequence[str], day: date) -> list[int]:
        """Counts an attempt of each, and gives how many there were on this day, in the order of the owners."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_OVER(day=day - _KEPT))
            counts = {each: await connection.fetchval(*_ATTEMPT(day=day, owner=each)) for each in sorted(owners)}
        return [counts[each] for each in owners]

    async def ask(
        self, asked: Asked, account: Account | None, by: str, now: datetime, also: Also = nothing_else
    ) -> Link:
        """The open link of the member with this number, anew where it has none. Raises `LinkRefused`."""
        place = {"programme": asked.programme, "member_id": asked.member_id}
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_ALONE(place=f"exchange link {asked.programme} {asked.member_id}"))
            before = await connection.fetchrow(*_OPEN(**place, digest=asked.digest))
            link = None if before is None else _link(before)
            is_same = before is not None and bool(before["is_same"])
            check_may_ask(link, is_same=is_same)
            if await connection.fetchval(*_TAKEN(**place, digest=asked.digest)):
                raise LinkRefused(LinkFault.NUMBER_LINKED, "this account is linked already")
            if link is not None and is_same and link.verified_at is not None:
                return link
            if link is not None:
                ended = {"state": LinkState.ENDED.value, "now": now, "by": by, "reason": "asked-anew"}
                await connection.execute(*_END(link_id=link.link_id, **ended))
            await connection.execute(*_ENTER(**await self._row(asked, account), now=now, by=by))
            await also(connection)
            return _link(await connection.fetchrow(*_FIND(link_id=asked.link_id)))

    async def try_code(self, link_id: UUID, given: bytes, verified: Verified, now: datetime, also: Also) -> Link:
        """Verifies by the digest of a code. A wrong one counts. Raises `LinkRefused`."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            link = _link(await connection.fetchrow(*_HOLD(link_id=link_id)))
            if link.verified_at is not None or not link.is_open:
                return link
            check_code_is_open(link, now)
            if is_code(await connection.fetchval(*_CODE(link_id=link_id)), given):
                return await _verify(connection, link, verified, also)
            tries = await connection.fetchval(*_TRIED(link_id=link_id))
        raise wrong_code(tries)

    async def take_sign_in(self, link_id: UUID, given: bytes | None, now: datetime) -> Taken:
        """What was begun, once, by the digest of its state. A wrong one counts. Raises `LinkRefused`."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            link = _link(await connection.fetchrow(*_HOLD(link_id=link_id)))
            check_sign_in_is_open(link, now)
            stored = dict(await connection.fetchrow(*_SIGN_IN(link_id=link_id)))
            if given is not None and is_code(stored["code_digest"], given):
                begun = Begun(await self._verifier(link_id, stored["verifier"]), stored["redirect_uri"])
                await connection.execute(*_TAKE_SIGN_IN(link_id=link_id))
                return Taken(begun, stored)
            tries = await connection.fetchval(*_TRIED(link_id=link_id))
        raise wrong_sign_in(tries)

    async def give_back(self, link_id: UUID, taken: Taken, owners: Sequence[str], day: date) -> None:
        """The partner was not asked: the sign-in is open as before, and the attempt of this day counts no more."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_GIVE_SIGN_IN_BACK(link_id=link_id, **taken.stored))
            await connection.execute(*_UNCOUNT(day=day, owners=list(owners)))

    async def verify_told(self, link: Link, account: Account, digest: bytes, verified: Verified, also: Also) -> Link:
        """The partner told whose account it is. Raises `LinkRefused`."""
        told = await self._told(link.link_id, account)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            held = _link(await connection.fetchrow(*_HOLD(link_id=link.link_id)))
            await connection.execute(*_TOLD(link_id=link.link_id, digest=digest, **told))
            return await _verify(connection, held, verified, also)

    async def verify(self, link_id: UUID, verified: Verified, also: Also) -> Link:
        """The partner knows the account. Raises `LinkRefused`."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            link = _link(await connection.fetchrow(*_HOLD(link_id=link_id)))
            return await _verify(connection, link, verified, also)

    async def end(self, link_id: UUID, ending: Ending, now: datetime, also: Also = nothing_else) -> Link:
        """The link as it is then; what had ended before stays as it was."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if await rows_changed(connection, _END(link_id=link_id, now=now, **ending._asdict())):
                await also(connection)
            return _link(await connection.fetchrow(*_FIND(link_id=link_id)))

    async def find(self, link_id: UUID) -> Link | None:
        return await self._read(_FIND(link_id=link_id))

    async def at(self, member_id: str, programme: str) -> Link | None:
        """The open link of a member at a programme."""
        return await self._read(_AT(member_id=member_id, programme=programme))

    async def of_number(self, programme: str, number: str) -> Link | None:
        """The verified link of a number, or of the id of a link in its place."""
        with suppress(ValueError):  # a number may have the form of an id
            by_id = await self._read(_OF_ID(programme=programme, link_id=UUID(number)))
            if by_id is not None:
                return by_id
        digest = number_digest(await self.key(), programme, number)
        return await self._read(_OF_NUMBER(programme=programme, digest=digest))

    async def of_member(self, member_id: str, most: int) -> Sequence[Link]:
        """The newest first."""
        async with passing_failures():
            return [_link(row) for row in await self._pool.fetch(*_OF_MEMBER(member_id=member_id, most=most))]

    async def countries(self, programmes: Collection[str]) -> Mapping[str, str]:
        """The country of each programme, whether it is in force or not."""
        async with passing_failures():
            return dict(await self._documents.fetch(*_COUNTRIES(names=list(programmes))))

    async def accounts(self, link_ids: Sequence[UUID]) -> Mapping[UUID, Account]:
        """The accounts of links, as far as they are not forgotten."""
        async with passing_failures():
            rows = await self._pool.fetch(*_STORED(link_ids=list(link_ids)))
        return {link_id: await self._account(link_id, number, holder) for link_id, number, holder in rows}

    async def _account(self, link_id: UUID, number: str, holder: str | None) -> Account:
        try:
            name = None if holder is None else await self._secrets.read(holder, holder_place(link_id))
            return Account(await self._secrets.read(number, number_place(link_id)), name)
        except SecretUnreadable as fault:
            raise Unavailable("links", str(fault)) from None

    async def _row(self, asked: Asked, account: Account | None) -> dict[str, Any]:
        row, begun = asked._asdict(), asked.begun
        del row["begun"]
        row |= {"way": None, "verifier": None, "redirect_uri": None}
        if begun is not None:
            verifier = await self._secrets.to_store(begun.verifier, verifier_place(asked.link_id))
            row |= {"way": LinkWay.OAUTH.value, "verifier": verifier, "redirect_uri": begun.redirect_uri}
        return row | await self._told(asked.link_id, account)

    async def _told(self, link_id: UUID, account: Account | None) -> dict[str, str | None]:
        if account is None:
            return {"number": None, "holder": None, "shown": UNKNOWN_SHOWN}
        number, holder = await self._secrets.to_store(account.number, number_place(link_id)), account.holder
        if holder is not None:
            holder = await self._secrets.to_store(holder, holder_place(link_id))
        return {"number": number, "holder": holder, "shown": shown(account.number)}

    async def _verifier(self, link_id: UUID, stored: str) -> str:
        try:
            return await self._secrets.read(stored, verifier_place(link_id))
        except SecretUnreadable as fault:
            raise Unavailable("links", str(fault)) from None

    async def _read(self, query: tuple[Any, ...]) -> Link | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*query)
        return None if row is None else _link(row)


class Forgetting(NamedTuple):
    """A member who is erased, the pseudonym that stays, and the word that stands for what is forgotten."""

    member_id: str
    pseudonym: str
    word: str


class Forgotten(NamedTuple):
    """How many rows of each table were changed or deleted."""

    links: int
    attempts: int


async def forget_links(connection: Connection, forgetting: Forgetting, *, within_s: float | None = None) -> Forgotten:
    """Ends the links of a member, and deletes numbers and digests: nobody finds them any more, and they may be another
    member's. In the caller's transaction.
    """
    tried = _FORGET_ATTEMPTS(member_id=forgetting.member_id)
    attempts = await rows_changed(connection, tried, within_s=within_s)
    links = await rows_changed(connection, _FORGET_LINKS(**forgetting._asdict()), within_s=within_s)
    return Forgotten(links, attempts)


async def _verify(connection: Connection, link: Link, verified: Verified, also: Also) -> Link:
    """Raises `LinkRefused`."""
    try:
        async with connection.transaction():
            if await rows_changed(connection, _VERIFIED(link_id=link.link_id, **verified._asdict())):
                await also(connection)
    except asyncpg.UniqueViolationError:
        raise LinkRefused(LinkFault.NUMBER_LINKED, "this account is linked already") from None
    return _link(await connection.fetchrow(*_FIND(link_id=link.link_id)))


def _link(row: Sequence[Any]) -> Link:
    link = Link(*list(row)[: len(Link._fields)])
    return link._replace(state=LinkState(link.state), way=None if link.way is None else LinkWay(link.way))
