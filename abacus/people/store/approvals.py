"""Approvals in Postgres: whatever needs a second person is asked for, decided and carried out here.

What is asked for is never changed. Deciding locks the row, so one of two wins. What is approved is carried out at once;
if that is cut off, approving again carries it out, and it takes effect once.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias
from uuid import UUID, uuid4

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.sources import CLOCK, Agent
from abacus.people.decide.agreement import (
    OnAsk,
    check_approves,
    check_asks,
    check_independent,
    check_rejects,
    check_unchanged,
    digest_of,
    on_ask,
)
from abacus.people.decide.independence import tied_to
from abacus.people.decide.rights import countries_of
from abacus.people.store.audit import access_given, entry_of, write
from abacus.people.types.approval import (
    Approval,
    ApprovalKind,
    CannotDecide,
    CannotExecute,
    Proposal,
    Status,
    Terms,
    Waiting,
)
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Connection, Pool, passing_failures
from abacus.platform.sql import Narrowed, Statement, columns, narrowed_to

# Does what the approval lets happen, and calls `Also` in its transaction where it has one of its own. What has none is
# idempotent. Raises `CannotExecute` or `Refused` for what cannot be done any more.
Executor: TypeAlias = Callable[[Approval, Also], Awaitable[None]]

_MOST: Final = 1000
_DEEDS: Final[Mapping[str, Deed]] = {
    ApprovalKind.ADJUSTMENT: Deed.ADJUST,
    ApprovalKind.REVERSAL: Deed.REVERSE,
    ApprovalKind.RATE_CARD: Deed.PUBLISH_RATES,
    ApprovalKind.LIMITS: Deed.EDIT_LIMITS,
    ApprovalKind.CAMPAIGN: Deed.EDIT_CAMPAIGNS,
    ApprovalKind.OFFER: Deed.EDIT_OFFERS,
    ApprovalKind.REWARD: Deed.EDIT_REWARDS,
    ApprovalKind.EXCHANGE_PROGRAMME: Deed.EDIT_EXCHANGES,
    ApprovalKind.EXCHANGE: Deed.ADJUST,
    ApprovalKind.JOURNEY: Deed.EDIT_JOURNEYS,
    ApprovalKind.JOURNEY_MIGRATION: Deed.EDIT_JOURNEYS,
    ApprovalKind.CONTACT_POLICY: Deed.PUBLISH_CONTACT,
    ApprovalKind.REGIONS: Deed.EDIT_PLACES,
    ApprovalKind.ASSUMPTION: Deed.SET_ASSUMPTIONS,
    ApprovalKind.MONTH_CLOSE: Deed.CLOSE_BOOKS,
}

_LOCK_SUBJECT: Final = Statement("select pg_advisory_xact_lock(hashtext('approval:' || :kind || ':' || :subject))")
_EARLIER: Final = Statement(f"""
select {columns(Approval)} from approval
where case when :once::uuid is null then kind = :kind and subject = :subject and status in ('pending', 'approved')
    else approval_id = :once end
""")
_ASK: Final = Statement(f"""
insert into approval (approval_id, kind, subject, country, summary, document, digest, asked_by, asked_at)
values (:approval_id, :kind, :subject, :country, :summary, :document, :digest, :asked_by, :now)
returning {columns(Approval)}
""")
_ONE: Final = f"select {columns(Approval)} from approval where approval_id = :approval_id"
_FIND: Final = Statement(_ONE)
_SOME: Final = Statement(f"select {columns(Approval)} from approval where approval_id = any(:ids::uuid[])")
_LOCK: Final = Statement(f"{_ONE} for update")
_DONE: Final = Statement(f"""
select {columns(Approval)} from approval
where kind = :kind and subject = :subject and digest = :digest and status = '{Status.DONE}'
order by decided_at desc limit 1
""")
_NEWEST: Final = "order by asked_at desc, approval_id"
_IN: Final[Mapping[str, str]] = {"country": "country = :country", "countries": "country = any(:countries::text[])"}
_ALL: Final = Narrowed(
    f"select {columns(Approval)} from approval {{where}} {_NEWEST} limit :limit",
    status="status = :status",
    kinds="kind = any(:kinds::text[])",
    asked_by="asked_by = :asked_by",
    before_at="asked_at <= :before_at and (asked_at < :before_at or approval_id > :before_id)",
    **_IN,
)
# The index `approval_member_idx` has these kinds alone: the member is a field of each one's document.
_OF_MEMBER: Final = Narrowed(
    f"""
    select {columns(Approval)} from approval
    where kind in ('{ApprovalKind.ADJUSTMENT}', '{ApprovalKind.REVERSAL}')
        and document::jsonb ->> 'member_id' = :member_id {{and}} {_NEWEST} limit :limit
    """,
    **_IN,
)
_LONGEST: Final = Narrowed(
    f"""
    select {columns(Approval)} from approval where status = '{Status.PENDING}' and asked_by <> :by {{and}}
    order by asked_at, approval_id desc limit :limit
    """,
    **_IN,
)
_DECIDE: Final = Statement(f"""
update approval set status = :status, decided_by = :by, decided_at = :now, note = :note
where approval_id = :approval_id returning {columns(Approval)}
""")
_CLOSE: Final = Statement(f"""
update approval set status = :status, note = coalesce(:note, note)
where approval_id = :approval_id and status = 'approved' returning {columns(Approval)}
""")

_OVERDUE: Final = "status = 'pending' and asked_at <= :before"
_IS_OVERDUE: Final = Statement(f"select exists (select from approval where {_OVERDUE})")
_EXPIRE: Final = Statement(f"""
update approval set status = 'expired', decided_at = :now, note = :note where {_OVERDUE} returning {columns(Approval)}
""")


class Approvals:
    """Every method raises `Unavailable` while the database is away, and `CannotDecide` for what may not be."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        executors: Mapping[ApprovalKind, Executor] | None = None,
        terms: Terms | None = None,
    ) -> None:
        self._pool = pool
        self._clock = clock
        self.terms = terms or Terms()
        self._executors = dict(executors or {})

    def carried_out_by(self, executors: Mapping[ApprovalKind, Executor]) -> None:
        """Adds executors: they often ask for approvals too, so they come after the room."""
        self._executors |= executors

    async def ask(self, proposal: Proposal, by: Agent) -> Approval:
        """The pending approval of the proposal. Asked for again, it is the same one; another document for the subject
        makes the pending one void. For a subject that is used once, the first approval comes again, however far it is.
        """
        check_asks(by.source)
        kind, subject, country, summary, document, once = proposal
        await self.expire()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK_SUBJECT(kind=kind, subject=subject))
            row = await connection.fetchrow(*_EARLIER(kind=kind, subject=subject, once=once))
            earlier = Approval(*row) if row else None
            if earlier is not None:
                if on_ask(earlier, proposal) is OnAsk.KEEP:
                    return earlier
                note = f"{by.source} asked for another one"
                await self._set(connection, earlier, Status.VOID, by.source, note, did="void")
            row = await connection.fetchrow(
                *_ASK(
                    approval_id=once or uuid4(),
                    kind=kind,
                    subject=subject,
                    country=country,
                    summary=summary,
                    document=document,
                    digest=digest_of(kind, subject, country, document),
                    asked_by=by.source,
                    now=self._clock.now(),
                )
            )
            approval = Approval(*row)
            await self._log(connection, approval, by.source, _DEEDS[kind], did="ask")
        return approval

    async def expire(self) -> None:
        """Ends what was pending for too long: nobody decides on it any more, and its subject is free again."""
        now = self._clock.now()
        given = {"before": now - self.terms.pending, "now": now}
        note = f"nobody decided within {self.terms.pending.days} days"
        async with passing_failures():
            if not await self._pool.fetchval(*_IS_OVERDUE(before=given["before"])):
                return
            async with self._pool.acquire() as connection, connection.transaction():
                for row in await connection.fetch(*_EXPIRE(**given, note=note)):
                    await self._log(connection, Approval(*row), CLOCK, Deed.APPROVE, did="expire")

    async def find(self, approval_id: UUID) -> Approval | None:
        await self.expire()
        async with passing_failures():
            row = await self._pool.fetchrow(*_FIND(approval_id=approval_id))
        return Approval(*row) if row else None

    async def agreed(self, proposal: Proposal) -> Approval | None:
        """The approval of exactly this that took effect: for what is carried out afterwards, and over a long time."""
        kind, subject, country, _, document, _ = proposal
        digest = digest_of(kind, subject, country, document)
        async with passing_failures():
            row = await self._pool.fetchrow(*_DONE(kind=kind, subject=subject, digest=digest))
        return Approval(*row) if row else None

    async def some(self, ids: Sequence[UUID]) -> list[Approval]:
        """The approvals with these ids, in no order."""
        async with passing_failures():
            return [Approval(*row) for row in await self._pool.fetch(*_SOME(ids=ids))]

    async def all(
        self,
        *,
        status: Status | None = None,
        kinds: Sequence[ApprovalKind] | None = None,
        countries: Sequence[str] | None = None,
        asked_by: str | None = None,
        before: tuple[datetime, UUID] | None = None,
        limit: int = _MOST,
    ) -> list[Approval]:
        """The newest first, a thousand at most; `before` is the time and the id of the one behind which they begin."""
        await self.expire()
        before_at, before_id = before or (None, None)
        which = {"status": status, "kinds": kinds, "asked_by": asked_by, **narrowed_to(countries)}
        which |= {"before_at": before_at, "before_id": before_id}
        async with passing_failures():
            rows = await self._pool.fetch(*_ALL(which, limit=min(limit, _MOST)))
        return [Approval(*row) for row in rows]

    async def of_member(
        self, member_id: str, *, countries: Sequence[str] | None = None, limit: int = _MOST
    ) -> list[Approval]:
        """Movements of the member's points, the newest first."""
        async with passing_failures():
            rows = await self._pool.fetch(*_OF_MEMBER(narrowed_to(countries), member_id=member_id, limit=limit))
        return [Approval(*row) for row in rows]

    async def waiting_for(self, by: Actor, *, among: int) -> Waiting:
        """What this person may decide on now, `among` the approvals that wait longest in its countries; these first."""
        countries = countries_of(by, Deed.APPROVE)
        if countries == ():
            return Waiting([], is_whole=True)
        await self.expire()
        now, lasts = self._clock.now(), self.terms.tied
        async with passing_failures(), self._pool.acquire() as connection:
            rows = await connection.fetch(*_LONGEST(narrowed_to(countries), by=by.source, limit=among + 1))
            tied = tied_to(by.source, await access_given(connection, now - lasts), now, lasts)
        pending = [Approval(*row) for row in rows[:among]]
        open_ = [each for each in pending if each.asked_by not in tied and _may_approve(each, by, now)]
        return Waiting(open_, is_whole=len(rows) <= among)

    async def approve(self, approval_id: UUID, by: Actor, digest: str) -> Approval:
        """Approve the content with this digest, and carry it out. Raises `CannotExecute` when that is not possible any
        more; then it is void. An approval that was cut off is carried out.
        """
        await self.expire()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            approval = await _locked(connection, approval_id)
            if approval.status == Status.DONE and approval.decided_by == by.source:
                return approval
            await self._check_approves(connection, approval, by, digest)
            if approval.status == Status.PENDING:
                approval = await self._set(connection, approval, Status.APPROVED, by.source, None, did="approve")
        return await self._carry_out(approval)

    async def check_approves(self, approval: Approval, by: Actor) -> None:
        """Whether the person may approve it, as it is shown."""
        async with passing_failures(), self._pool.acquire() as connection:
            await self._check_approves(connection, approval, by, approval.digest)

    async def reject(self, approval_id: UUID, by: Actor, why: str) -> Approval:
        """Reject it as a person who could approve it, or withdraw what one has asked for."""
        await self.expire()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            approval = await _locked(connection, approval_id)
            check_rejects(approval, by)
            return await self._set(connection, approval, Status.REJECTED, by.source, why, did="reject")

    async def _check_approves(self, connection: Connection, approval: Approval, by: Actor, digest: str) -> None:
        now, lasts = self._clock.now(), self.terms.tied
        check_approves(approval, by, digest, now)
        check_independent(approval, by, await access_given(connection, now - lasts), now, lasts)

    async def _carry_out(self, approval: Approval) -> Approval:
        async def done(connection: Connection) -> None:
            if (
                await connection.fetchrow(*_CLOSE(approval_id=approval.approval_id, status=Status.DONE, note=None))
                is None
            ):
                raise CannotDecide("approval-decided", "it was carried out just now")

        try:
            check_unchanged(approval, approval.document)
            await self._executors[ApprovalKind(approval.kind)](approval, done)
        except CannotExecute as fault:
            await self._close(approval, Status.VOID, fault.detail)
            raise
        except Refused as fault:
            await self._close(approval, Status.VOID, str(fault))
            raise CannotExecute(str(fault), fault) from None
        return await self._close(approval, Status.DONE, None)

    async def _close(self, approval: Approval, status: Status, note: str | None) -> Approval:
        async with passing_failures():
            row = await self._pool.fetchrow(*_CLOSE(approval_id=approval.approval_id, status=status, note=note))
        return Approval(*row) if row else await self.find(approval.approval_id) or approval

    async def _set(
        self, connection: Connection, approval: Approval, status: Status, by: str, note: str | None, *, did: str
    ) -> Approval:
        given = {"approval_id": approval.approval_id, "status": status, "by": by, "note": note}
        decided = Approval(*await connection.fetchrow(*_DECIDE(**given, now=self._clock.now())))
        await self._log(connection, decided, by, Deed.APPROVE, did=did)
        return decided

    async def _log(self, connection: Connection, approval: Approval, by: str, deed: Deed, *, did: str) -> None:
        entry = entry_of(
            by,
            deed,
            f"approval:{approval.approval_id}",
            self._clock.now(),
            country=approval.country,
            did=did,
            kind=approval.kind,
            of=approval.subject,
            digest=approval.digest,
            reason=approval.note,
        )
        await write(connection, [entry])


def _may_approve(approval: Approval, by: Actor, now: datetime) -> bool:
    try:
        check_approves(approval, by, approval.digest, now)
    except CannotDecide:
        return False
    return True


async def _locked(connection: Connection, approval_id: UUID) -> Approval:
    row = await connection.fetchrow(*_LOCK(approval_id=approval_id))
    if row is None:
        raise CannotDecide("not-found", "there is no such approval")
    return Approval(*row)
