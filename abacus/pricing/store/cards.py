"""Published rate cards in Postgres: versions of a scope count from 1, none is ever changed, and one that has not begun
can be withdrawn.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.core.errors import Refused, Unavailable, absent
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.pricing.decide.card import (
    FINAL_BEFORE,
    WITHDRAWN_BEFORE,
    CardFaults,
    CardState,
    PublishedCard,
    RateCard,
    parse_card,
    to_document,
)
from abacus.pricing.decide.timeline import CardRecord, Withdrawal, place_of

NONE_KNOWN: Final[Mapping[str, PublishedCard]] = MappingProxyType({})


class _Row(NamedTuple):
    """A row of `rate_card`."""

    scope: str
    version: int
    effective_from: datetime
    document: str
    published_at: datetime
    published_by: str
    approved_by: str | None


class _Told(NamedTuple):
    """A card with everything that is known of it. By the clock of the database, as the withdrawal is."""

    scope: str
    version: int
    document: str | None
    published_at: datetime
    published_by: str
    approved_by: str | None
    is_final: bool
    withdrawn_at: datetime | None
    withdrawn_by: str | None
    reason: str | None


_TOLD: Final = """
    select c.scope, c.version,
        case when c.scope || '@' || c.version <> all(:known::text[]) then c.document end as document,
        c.published_at, c.published_by, c.approved_by, c.effective_from <= now() + :final_before as is_final,
        w.withdrawn_at, w.withdrawn_by, w.reason
    from rate_card c left join rate_card_withdrawal w on w.scope = c.scope and w.version = c.version
"""
_LOCK_SCOPE: Final = Statement("select pg_advisory_xact_lock(hashtext('rate_card:' || :scope::text))")
_ALL: Final = Statement(f"{_TOLD} order by c.scope, c.version")
_OF_SCOPE: Final = Statement(f"{_TOLD} where c.scope = :scope order by c.version")
_INSERT: Final = Statement(f"insert into rate_card ({columns(_Row)}) values ({parameters(_Row)})")

# A reader that sees a card as final must see its withdrawal. So this transaction ends well within the time between
# the last moment to withdraw a card and the first at which it is final.
_IN_TIME: Final = "set local statement_timeout = '10s'; set local idle_in_transaction_session_timeout = '10s'"
_WITHDRAW: Final = Statement("""
    insert into rate_card_withdrawal (scope, version, withdrawn_at, withdrawn_by, reason)
    select scope, version, :now, :by, :reason from rate_card
    where scope = :scope and version = :version and effective_from > clock_timestamp() + :before
    returning true
""")


class CardStore:
    """Reads, publishes and withdraws cards. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def publish(
        self,
        card: RateCard,
        *,
        by: str,
        now: datetime,
        approved_by: str | None = None,
        also: Also = nothing_else,
    ) -> PublishedCard:
        """Give the card the next version of its scope. Publishers of one scope wait for each other.

        Raises `Refused` when the same card is already the one that begins then: a version says that something changes.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK_SCOPE(scope=card.scope))
            cards = [record.published for record in await _records(connection, card.scope)]
            displaced = place_of(card, cards).displaced
            if displaced is not None and displaced.card == card:
                raise Refused(f"{displaced.name} is this card already: nothing to publish")
            row = _Row(
                scope=card.scope,
                version=cards[-1].version + 1 if cards else 1,
                effective_from=card.effective_from,
                document=json.dumps(to_document(card)),
                published_at=now,
                published_by=by,
                approved_by=approved_by,
            )
            await connection.execute(*_INSERT(**row._asdict()))
            await also(connection)
            return (await _records(connection, card.scope))[-1].published

    async def withdraw(
        self, scope: str, version: int, *, by: str, reason: str, now: datetime, also: Also = nothing_else
    ) -> CardRecord:
        """Withdraw a card that has not begun: it will never be in force. Raises `Refused` for every other card, and
        when it begins so soon that a process may rely on it.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_IN_TIME)
            await connection.execute(*_LOCK_SCOPE(scope=scope))
            _may_be_withdrawn(scope, version, await _records(connection, scope))
            values = {"scope": scope, "version": version, "by": by, "reason": reason, "now": now}
            if not await connection.fetchval(*_WITHDRAW(**values, before=WITHDRAWN_BEFORE)):
                minutes = WITHDRAWN_BEFORE.seconds // 60
                raise Refused(
                    f"{scope}@{version} is in force, or will be within {minutes} minutes, and processes rely on it;"
                    " publish a card that takes over from it"
                )
            await also(connection)
            return next(each for each in await _records(connection, scope) if each.published.version == version)

    async def all(self, known: Mapping[str, PublishedCard] = NONE_KNOWN) -> list[PublishedCard]:
        """All cards, by scope and version, the withdrawn ones too. Those that are known by their names are not read
        again: no card changes.
        """
        async with passing_failures():
            records = await self._pool.fetch(*_ALL(known=list(known), final_before=FINAL_BEFORE))
        return [_published(_Told(*record), known) for record in records]

    async def history(self, scope: str | None = None) -> list[CardRecord]:
        """The cards of a scope, or all, with who published and who withdrew each; by scope and version."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _records(connection, scope)


async def _records(connection: Connection, scope: str | None) -> list[CardRecord]:
    read = {"known": [], "final_before": FINAL_BEFORE}
    statement = _ALL(**read) if scope is None else _OF_SCOPE(**read, scope=scope)
    return [_record(_Told(*record)) for record in await connection.fetch(*statement)]


def _may_be_withdrawn(scope: str, version: int, records: list[CardRecord]) -> None:
    """Raises `Refused`."""
    record = next((each for each in records if each.published.version == version), None)
    if record is None:
        raise absent("rate card", f"{scope}@{version}", "`abacus rates timeline` prints all versions")
    if record.withdrawal is not None:
        at, by, _ = record.withdrawal
        raise Refused(f"{record.published.name} was withdrawn by {by} at {at.isoformat()} already")


def _record(told: _Told) -> CardRecord:
    withdrawal = None
    if told.withdrawn_at is not None:
        withdrawal = Withdrawal(told.withdrawn_at, told.withdrawn_by or "", told.reason or "")
    published = _published(told, NONE_KNOWN)
    return CardRecord(published, told.published_at, told.published_by, told.approved_by, withdrawal)


def _published(told: _Told, known: Mapping[str, PublishedCard]) -> PublishedCard:
    """A newer Abacus may have published a card that this one cannot read. Work under it has to wait for the upgrade:
    the version before would award by the wrong rates.
    """
    state = CardState.FINAL if told.is_final else CardState.OPEN
    if told.withdrawn_at is not None:
        state = CardState.WITHDRAWN
    name = f"{told.scope}@{told.version}"
    if told.document is None:
        return PublishedCard(known[name].card, told.version, state)
    try:
        return PublishedCard(parse_card(json.loads(told.document)), told.version, state)
    except CardFaults as faults:
        fault = faults.faults[0]
        raise Unavailable("rate cards", f"this version of Abacus cannot read {name}: {fault}") from faults
