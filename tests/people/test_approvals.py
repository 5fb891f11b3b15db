"""The approvals room on Postgres: two at once, what is cut off, what is changed; and what holds whatever people do."""

import asyncio
import json
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abacus.core.errors import Unavailable
from abacus.core.sources import Agent, partner_source
from abacus.people.store.audit import entry_of, log, write
from abacus.people.types.approval import Approval, CannotDecide, CannotExecute, Status, Terms
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.postgres import Also, Pool
from tests.people.approving import ANN, BEN, CAT, LOGIN, NOW, Effects, person, proposal, room
from tests.support.sealing import tampering


@pytest.mark.long
async def test_a_second_person_lets_it_take_effect_once(pool: Pool) -> None:
    effects = Effects()
    approvals = room(pool, effects)
    request = await approvals.ask(proposal(), ANN.agent)
    assert await approvals.ask(proposal(), ANN.agent) == request
    with pytest.raises(CannotDecide, match="ann asked for it; somebody else has to approve it"):
        await approvals.approve(request.approval_id, ANN, request.digest)
    assert effects.happened == []
    done = await approvals.approve(request.approval_id, BEN, request.digest[:8])
    assert (done.status, done.decided_by) == (Status.DONE, "person:ben")
    assert await approvals.approve(request.approval_id, BEN, request.digest) == done
    with pytest.raises(CannotDecide, match="it is done, by person:ben"):
        await approvals.approve(request.approval_id, CAT, request.digest)
    with pytest.raises(CannotDecide, match="it is done, by person:ben"):
        await approvals.reject(request.approval_id, CAT, "no")
    assert effects.happened == [("acme", request.document)]
    again = await approvals.ask(proposal(), ANN.agent)
    assert (again.status, again.approval_id != request.approval_id) == (Status.PENDING, True)


async def gave(pool: Pool, by: Actor, to: str, did: str) -> None:
    entry = entry_of(by.source, Deed.MANAGE_PEOPLE, to, NOW, did=did)
    async with pool.acquire() as connection:
        await write(connection, [entry])


async def test_nobody_approves_by_a_person_to_whom_it_gave_access(pool: Pool, database_url: str) -> None:
    effects = Effects()
    request = await room(pool, effects).ask(proposal(), ANN.agent)
    await gave(pool, ANN, "person:ben", "token")
    await gave(pool, LOGIN, "person:cat", "create")
    await gave(pool, ANN, "person:cat", "disable")
    async with tampering(database_url) as superuser:  # nobody else says when something was done
        await superuser.execute("update audit_log set at = $1", NOW)
    refused = "person:ann gave a token to person:ben on 2026-11-22. person:ben may approve this from 2026-12-22 00:00"
    with pytest.raises(CannotDecide, match=refused) as fault:
        await room(pool, effects).approve(request.approval_id, BEN, request.digest)
    assert fault.value.kind == "not-independent"
    assert effects.happened == []
    other = await room(pool, effects).ask(proposal("other"), ANN.agent)
    assert (await room(pool, effects).approve(other.approval_id, CAT, other.digest)).status == Status.DONE
    later = room(pool, effects, NOW + timedelta(days=30), Terms(pending=timedelta(days=31)))
    assert (await later.approve(request.approval_id, BEN, request.digest)).status == Status.DONE


async def test_what_nobody_decides_on_expires(pool: Pool) -> None:
    effects = Effects()
    request = await room(pool, effects).ask(proposal(), ANN.agent)
    nearly = room(pool, effects, NOW + timedelta(days=14, seconds=-1))
    (pending,) = await nearly.all()
    assert pending == request
    late = room(pool, effects, NOW + timedelta(days=14))
    with pytest.raises(CannotDecide, match="it is expired: nobody decided within 14 days") as fault:
        await late.approve(request.approval_id, BEN, request.digest)
    assert fault.value.kind == "approval-expired"
    with pytest.raises(CannotDecide, match="it is expired"):
        await late.reject(request.approval_id, BEN, "no")
    (shown,) = await late.all(status=Status.EXPIRED)
    assert (shown.approval_id, shown.decided_by) == (request.approval_id, None)
    assert [(each.actor, each.deed, json.loads(each.details)["did"]) for each in await log(pool)] == [
        ("clock", "approve", "expire"),
        ("person:ann", "edit-limits", "ask"),
    ]
    again = await late.ask(proposal(), ANN.agent)
    assert (again.status, again.approval_id != request.approval_id) == (Status.PENDING, True)
    assert (await late.approve(again.approval_id, BEN, again.digest)).status == Status.DONE
    with pytest.raises(asyncpg.PostgresError):  # and it stays as it is
        await pool.execute("update approval set status = 'pending' where status = 'expired'")


@pytest.mark.parametrize(
    ("roles", "among", "waiting"),
    [
        ("approver", 9, (["a", "c", "e"], True)),  # b is its own, and what dan asked for is tied
        ("approver", 4, (["a", "c", "e"], True)),
        ("approver", 2, (["a", "c"], False)),
        ("approver:SG", 9, (["a", "c"], True)),
        ("approver:TH", 9, ([], True)),
        ("viewer", 9, ([], True)),
    ],
)
async def test_what_waits_longest_comes_first_and_what_is_looked_at_has_a_bound(
    pool: Pool,
    database_url: str,
    roles: str,
    among: int,
    waiting: tuple[list[str], bool],
) -> None:
    dan, asked = person("dan", "support"), [("a", ANN, "SG"), ("b", BEN, "SG"), ("c", ANN, "SG")]
    await gave(pool, dan, "person:ben", "token")
    async with tampering(database_url) as superuser:  # nobody else says when something was done
        await superuser.execute("update audit_log set at = $1", NOW)
    for hour, (subject, by, country) in enumerate([*asked, ("d", dan, "SG"), ("e", ANN, "ID")]):
        at = NOW + timedelta(hours=hour)
        await room(pool, Effects(), at).ask(proposal(subject, country=country), by.agent)
    found = await room(pool, Effects(), NOW + timedelta(days=1)).waiting_for(person("ben", roles), among=among)
    assert ([each.subject for each in found.approvals], found.is_whole) == waiting


async def test_of_two_who_decide_at_once_one_wins(pool: Pool) -> None:
    effects = Effects()
    approvals = room(pool, effects)
    for number in range(10):
        request = await approvals.ask(proposal(f"p{number}"), ANN.agent)
        outcomes = await asyncio.gather(
            approvals.approve(request.approval_id, BEN, request.digest),
            approvals.reject(request.approval_id, CAT, "no"),
            return_exceptions=True,
        )
        assert Counter(type(each) for each in outcomes) == {Approval: 1, CannotDecide: 1}
        last = await approvals.find(request.approval_id)
        assert last is not None
        assert (request.subject in dict(effects.happened)) is (last.status == Status.DONE)


async def test_what_was_cut_off_is_carried_out_by_approving_again(pool: Pool) -> None:
    effects = Effects()
    approvals = room(pool, effects)
    request = await approvals.ask(proposal(), ANN.agent)
    effects.fault = Unavailable("ledger", "away")
    with pytest.raises(Unavailable):
        await approvals.approve(request.approval_id, BEN, request.digest)
    cut_off = await approvals.find(request.approval_id)
    assert cut_off is not None
    assert cut_off.status == Status.APPROVED
    with pytest.raises(CannotDecide):
        await approvals.ask(proposal(points=6), ANN.agent)
    with pytest.raises(CannotDecide):
        await approvals.reject(request.approval_id, BEN, "no")
    effects.fault = None
    with pytest.raises(CannotDecide):
        await approvals.approve(request.approval_id, ANN, request.digest)
    with pytest.raises(CannotDecide):
        await approvals.approve(request.approval_id, CAT, request.digest)
    later = room(pool, effects, NOW + timedelta(minutes=2))
    done = await later.approve(request.approval_id, CAT, request.digest)
    assert (done.status, done.decided_by) == (Status.DONE, "person:ben")
    assert len(effects.happened) == 1


async def test_an_executor_that_closes_it_in_its_transaction_acts_once_for_two_at_a_time(pool: Pool) -> None:
    acted = 0

    async def in_a_transaction(_: Approval, also: Also) -> None:
        nonlocal acted
        async with pool.acquire() as connection, connection.transaction():
            await also(connection)
        acted += 1

    approvals = room(pool, in_a_transaction)
    request = await approvals.ask(proposal(), ANN.agent)
    outcomes = await asyncio.gather(
        *(approvals.approve(request.approval_id, BEN, request.digest) for _ in range(4)), return_exceptions=True
    )
    assert acted == 1
    assert sum(isinstance(each, Approval) for each in outcomes) >= 1


async def test_what_cannot_be_done_any_more_is_void(pool: Pool) -> None:
    effects = Effects()
    approvals = room(pool, effects)
    request = await approvals.ask(proposal(), ANN.agent)
    effects.fault = CannotExecute("the points are gone")
    with pytest.raises(CannotExecute, match="the points are gone"):
        await approvals.approve(request.approval_id, BEN, request.digest)
    void = await approvals.find(request.approval_id)
    assert void is not None
    assert (void.status, void.decided_by, void.note) == (Status.VOID, "person:ben", "the points are gone")


async def test_another_document_makes_the_pending_one_void(pool: Pool) -> None:
    effects = Effects()
    approvals = room(pool, effects)
    first = await approvals.ask(proposal(), ANN.agent)
    second = await approvals.ask(proposal(points=500), ANN.agent)
    with pytest.raises(CannotDecide, match="it is void, by person:ann"):
        await approvals.approve(first.approval_id, BEN, first.digest)
    with pytest.raises(CannotDecide, match="look at it again"):
        await approvals.approve(second.approval_id, BEN, first.digest)
    assert effects.happened == []
    assert {each.approval_id: each.status for each in await approvals.all()} == {
        first.approval_id: Status.VOID,
        second.approval_id: Status.PENDING,
    }


async def test_a_document_that_was_changed_in_the_database_has_no_effect(pool: Pool, database_url: str) -> None:
    """Not even by the owner: the trigger refuses, and without the trigger the digest does."""
    effects = Effects()
    approvals = room(pool, effects)
    request = await approvals.ask(proposal(), ANN.agent)
    owner = await asyncpg.connect(database_url)
    try:
        change = "update approval set document = '{\"points\":5000}'"
        with pytest.raises(asyncpg.RestrictViolationError):
            await owner.execute(change)
        await owner.execute("alter table approval disable trigger all")
        await owner.execute(change)
    finally:
        await owner.close()
    with pytest.raises(CannotExecute, match="it is not what was approved any more"):
        await approvals.approve(request.approval_id, BEN, request.digest)
    assert effects.happened == []


@pytest.mark.parametrize(
    "change",
    [
        "set status = 'approved', decided_by = 'person:ann'",
        "set status = 'approved', decided_by = 'login:ben'",
        "set status = 'approved', decided_by = 'partner:acme'",
        "set status = 'done', decided_by = null",
    ],
)
async def test_the_database_itself_wants_a_second_person(pool: Pool, change: str) -> None:
    await room(pool, Effects()).ask(proposal(), ANN.agent)
    with pytest.raises(asyncpg.CheckViolationError):
        await pool.execute(f"update approval {change}")


async def test_what_is_decided_stays_decided(pool: Pool) -> None:
    approvals = room(pool, Effects())
    request = await approvals.ask(proposal(), ANN.agent)
    await approvals.reject(request.approval_id, BEN, "no")
    with pytest.raises(asyncpg.RestrictViolationError):
        await pool.execute("update approval set status = 'pending'")


async def test_each_step_is_in_the_log(pool: Pool) -> None:
    approvals = room(pool, Effects())
    request = await approvals.ask(proposal(), ANN.agent)
    await approvals.approve(request.approval_id, BEN, request.digest)
    entries = await log(pool, subjects=[f"approval:{request.approval_id}"])
    assert sorted((each.actor, each.deed) for each in entries) == [
        ("person:ann", "edit-limits"),
        ("person:ben", "approve"),
    ]


ACTORS = [ANN, BEN, CAT, LOGIN, person("dan", "support"), person("eve", "approver:ID")]
PARTNER = Agent("acme", partner_source("acme"))

steps = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from([*ACTORS, PARTNER]), st.integers(1, 2), st.integers(1, 3)),
    st.tuples(st.just("approve"), st.sampled_from(ACTORS), st.integers(0, 5), st.integers(0, 5)),
    st.tuples(st.just("reject"), st.sampled_from(ACTORS), st.integers(0, 5), st.just(0)),
    st.tuples(st.just("fail"), st.just(LOGIN), st.booleans(), st.just(0)),
)


class Play:
    """One example: what people did, in a room of its own."""

    def __init__(self, pool: Pool) -> None:
        self.effects = Effects()
        self.approvals = room(pool, self.effects)
        self.requests: list[Approval] = []
        self._mark = uuid4().hex

    async def step(self, step: str, by: Any, first: int, second: int) -> None:
        try:
            if step == "ask":
                agent = by.agent if isinstance(by, Actor) else by
                self.requests.append(await self.approvals.ask(proposal(f"{self._mark}-{first}", second), agent))
            elif step == "fail":
                self.effects.fault = Unavailable("ledger", "away") if first else None
            elif self.requests and step == "approve":
                which, seen = self._at(first), self._at(second)
                await self.approvals.approve(which.approval_id, by, seen.digest)
            elif self.requests:
                await self.approvals.reject(self._at(first).approval_id, by, "no")
        except (CannotDecide, Unavailable):
            return

    def _at(self, place: int) -> Approval:
        return self.requests[place % len(self.requests)]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, max_size=14))
async def test_nothing_takes_effect_that_two_people_did_not_agree_on(pool: Pool, steps_taken: list[Any]) -> None:
    """Whatever is asked, approved, rejected, replaced and cut off, by whomever, in whatever order."""
    play = Play(pool)
    for step, by, first, second in steps_taken:
        await play.step(step, by, first, second)
    agreed = set[tuple[str, str]]()
    for approval_id in {each.approval_id for each in play.requests}:
        each = await play.approvals.find(approval_id)
        assert each is not None
        if each.status in {Status.APPROVED, Status.DONE}:
            assert each.decided_by is not None
            assert each.decided_by.startswith("person:")
            assert each.decided_by != each.asked_by
            assert not each.asked_by.startswith("login:")
        if each.status == Status.DONE:
            agreed.add((each.subject, each.document))
    assert set(play.effects.happened) == agreed
