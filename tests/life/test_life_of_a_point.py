"""Points come, go, come back and lapse in any order, and after each step the ledger says what a plain model says."""

import asyncio
import itertools
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, TypeVar
from uuid import UUID

import orjson
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from abacus.core.ids import award_id, expiry_key, opening_key
from abacus.core.sources import Agent, exchange_source
from abacus.intake.partners.members import MemberReader
from abacus.ledger.decide.chain import chain
from abacus.ledger.decide.lapse import MonthEnd
from abacus.ledger.decide.opening_balance import OpeningBalance
from abacus.ledger.decide.pending import vested
from abacus.ledger.types.account import NO_HASH, AccountId
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import AWARDED, OF_HELD, TransferKind
from abacus.ledger.types.movement import (
    Adjustment,
    Because,
    Capture,
    Exchanged,
    Movement,
    Refund,
    Release,
    Reserve,
    Reversal,
    Spend,
)
from abacus.ledger.types.port import Status
from abacus.platform.postgres import open_pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import OnShortfall
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import ExchangedIn
from abacus.programs.expiry.decide.month import Month
from abacus.proof.decide.recompute import recompute
from abacus.proof.verify import verify
from tests.life.ledgers import ORIGIN, Left, Living, LivingInMemory, LivingOnPostgres
from tests.life.model import Model, ModelAward
from tests.support.explanations import calculated, granted
from tests.support.fixed_clock import FixedClock
from tests.support.tries import tries

LIVES: Final = itertools.count()  # each has a member of its own, so that they can share a database
START: Final = datetime(2026, 1, 10, 12, tzinfo=UTC)
FACTS: Final = "0" * 16
ACME = Agent("acme", "partner:acme")
SKYMILES = Agent("skyways", exchange_source("skymiles"))
MILES: Final = Exchanged(UUID(int=7), "skymiles@1", "skyways", 25, "miles")
ANN = Agent("ann", "person:ann")

Answer = TypeVar("Answer")
points = st.integers(1, 40)


class Life(RuleBasedStateMachine):
    """One account. Each rule does the same to the ledger, here in memory, and to the model."""

    def open(self, _: ExitStack, clock: FixedClock) -> Living:
        return LivingInMemory(clock)

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return self._runner.get_loop().run_until_complete(work)  # `run` would see to signals each time

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self._runner = self._stack.enter_context(asyncio.Runner())
        self.clock = FixedClock(START)
        self.ledger = self.open(self._stack, self.clock)
        self.numbers: Iterator[int] = iter(range(1, 10_000))
        self.model = Model()
        self.by_lots, self.months = False, 6  # by the card in force
        self.written = 0
        self.is_erased = False
        self.exchanges: dict[str, str] = {}  # holds without an end, and the keys of their captures
        self.id: AccountId = (f"bob-{next(LIVES)}", "GRP")

    def teardown(self) -> None:
        self._stack.close()

    @initialize(by_lots=st.booleans(), months=st.sampled_from([1, 3, 6]))
    def choose(self, *, by_lots: bool, months: int) -> None:
        self.by_lots, self.months = by_lots, months

    @rule(by_lots=st.booleans(), months=st.sampled_from([1, 3, 6]))
    def publish_a_card(self, *, by_lots: bool, months: int) -> None:
        self.by_lots, self.months = by_lots, months

    @rule()
    def wait_for_the_last_day(self) -> None:
        last = Month.of(self.clock.now().date()).last_day
        self.clock.set(datetime(last.year, last.month, last.day, 12, tzinfo=UTC))

    @rule(amount=points, months_late=st.integers(0, 7), activity=st.booleans(), days=st.none() | st.integers(0, 60))
    def earn(self, amount: int, months_late: int, *, activity: bool, days: int | None) -> None:
        """Points that vest later, after days, or can be spent at once."""
        key = self._key("txn:rides")
        vests_on = None if days is None else self.clock.now().date() + timedelta(days=days)
        day = self._month_end(self.months - (months_late if activity else 0))
        worth = calculated(f"{amount}.00", amount * 3)
        award = Award(
            *(key, *self.id, "SG", TransferKind.EARN, amount * 3, self.clock.now(), day, activity, FACTS),
            worth if activity else granted(amount * 3),
            "stream",
            self.by_lots,
            vests_on=vests_on,
            vests_at=None if vests_on is None else datetime(vests_on.year, vests_on.month, vests_on.day, tzinfo=UTC),
        )
        self.model.now = self.clock.now()
        if award.vests_at is not None:
            self.model.vests[key] = award.vests_at, amount * 3
        (outcome,) = self.run(self.ledger.post([award]))
        assert outcome.status is Status.POSTED
        self.written += 1
        if activity:
            self.model.transact(key, amount * 3, Decimal(amount), day, lifetime=self.by_lots)
        else:
            self.model.posted[key] = ModelAward(amount * 3, None)
            self.model.give(key, amount * 3, day, self.clock.now().date(), lifetime=self.by_lots)
        (again,) = self.run(self.ledger.post([award]))
        assert again.status is Status.DUPLICATE

    @rule(amount=points)
    def spend(self, amount: int) -> None:
        key = self._key("api:acme")
        movement = Spend(key, *self.id, "SG", FACTS, amount, "a coffee", *ACME)
        self._move(movement, expected=self.model.spend(key, amount))

    @rule(amount=points)
    def exchange_in(self, amount: int) -> None:
        key, day = self._key("exchange:skyways"), self._month_end(self.months)
        told = ExchangedIn(
            exchange=str(UUID(int=8)),
            programme="skymiles@1",
            partner="skyways",
            theirs=25,
            unit="miles",
            card="SG@7",
            points=amount,
        )
        kind, now = TransferKind.EXCHANGE_IN, self.clock.now()
        award = Award(
            *(key, *self.id, "SG", kind, amount, now, day, True, FACTS), text_of(told), SKYMILES.source, self.by_lots
        )
        self.model.now = now
        (outcome,) = self.run(self.ledger.post([award]))
        assert outcome.status is Status.POSTED
        self.written += 1
        self.model.transact(key, amount, Decimal(1), day, lifetime=self.by_lots)
        del self.model.posted[key]  # nothing takes it back

    @rule(amount=points, endless=st.booleans())
    def hold(self, amount: int, *, endless: bool) -> None:
        """For a purchase, or without an end for an exchange."""
        key = self._key("api:acme")
        until = None if endless else self.clock.now() + timedelta(days=10_000)
        hold_id = award_id(key)
        if endless:
            self.exchanges[str(hold_id)] = f"capture:{hold_id}"
        movement = Reserve(
            *(key, *self.id, "SG", FACTS, amount, "a table", *self._agent(str(hold_id)), hold_id), until=until
        )
        self._move(movement, expected=self.model.hold(str(hold_id), amount))

    @precondition(lambda self: self.model.holds)
    @rule(data=st.data(), amount=st.none() | points)
    def capture(self, data: st.DataObject, amount: int | None) -> None:
        hold = data.draw(st.sampled_from(list(self.model.holds)))
        key = f"capture:{hold}"
        exchanged = MILES if hold in self.exchanges else None
        movement = Capture(key, *self.id, "SG", FACTS, amount, *self._agent(hold), UUID(hold), exchanged)
        self._move(movement, expected=self.model.capture(key, hold, amount))

    @precondition(lambda self: self.model.holds)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        hold = data.draw(st.sampled_from(list(self.model.holds)))
        agent = self._agent(hold)
        movement = Release(f"release:{hold}", *self.id, "SG", FACTS, *agent, UUID(hold), Because.RELEASED)
        self._move(movement, expected=self.model.release(hold))

    @rule(amount=st.integers(-40, 40))
    def adjust(self, amount: int) -> None:
        key, day, today = self._key("adjust"), self._month_end(self.months), self.clock.now().date()
        movement = Adjustment(key, *self.id, "SG", FACTS, amount, "a mistake", *ANN, None, day, self.by_lots)
        self._move(movement, expected=self.model.adjust(key, amount, day, today, lifetime=self.by_lots))

    @precondition(lambda self: not self.is_erased)
    @rule(balance=st.integers(0, 40), months=st.integers(0, 12))
    def bring(self, balance: int, months: int) -> None:
        """A balance of another system, once."""
        key = opening_key(ORIGIN.source, *self.id)
        if key in self.model.posted:
            return
        day, today = self._month_end(months), self.clock.now().date()
        self.run(self.ledger.bring(OpeningBalance(*self.id, "SG", balance, day, self.by_lots)))
        self.written += 1
        self.model.adjust(key, balance, day, today, lifetime=self.by_lots)

    @precondition(lambda self: self.model.posted)
    @rule(data=st.data(), amount=st.decimals(0, 30, places=2), clip=st.booleans())
    def refund(self, data: st.DataObject, amount: Decimal, *, clip: bool) -> None:
        of = data.draw(st.sampled_from(list(self.model.posted)))
        movement = self._reversal(self._key("refund:rides"), of, Refund(amount, "SGD"), clip=clip)
        self._move(movement, expected=self.model.refund(of, amount, clip=clip))

    @precondition(lambda self: self.model.posted)
    @rule(data=st.data(), part=st.none() | points, clip=st.booleans())
    def reverse(self, data: st.DataObject, part: int | None, *, clip: bool) -> None:
        of = data.draw(st.sampled_from(list(self.model.posted)))
        movement = self._reversal(self._key("api:acme"), of, part, clip=clip)
        self._move(movement, expected=self.model.reverse(movement.key, of, part, movement.expires_on, clip=clip))

    @rule()
    def end_month(self) -> None:
        now = self.clock.now()
        month = Month.of(now.date())
        self.clock.set(datetime(month.after.year, month.after.number, 10, 12, tzinfo=UTC))
        end = MonthEnd(expiry_key(str(month)), month.last_day, month.over_at(UTC))
        before, self.model.now = self.model.balance, self.clock.now()
        self.model.lapse(month.last_day)
        self.written += self.model.balance != before
        for _ in range(2):  # twice is once
            self.run(self.ledger.lapse(self.id, end))

    @precondition(lambda self: self.written and not self.is_erased)
    @rule()
    def erase(self) -> None:
        """The life goes on under another name, and no award from before is paid again."""
        imported = opening_key(ORIGIN.source, *self.id)
        self.id = self.run(self.ledger.erase(self.id))
        self.is_erased = True
        self.model.rename(imported, opening_key(ORIGIN.source, *self.id))

    @invariant()
    def they_agree(self) -> None:
        account = self.run(self.ledger.account(self.id))
        if account is None:
            assert not self.written
            return
        account, self.model.now = vested(account, self.clock.now()), self.clock.now()
        assert (account.balance, account.held, account.available) == (
            self.model.balance,
            self.model.held,
            self.model.available,
        )
        assert (account.expires_on, account.lifetime) == (self.model.expires_on, self.model.lifetime)
        assert account.active_until == self.model.until
        assert self.run(self.ledger.open_lots(self.id)) == [
            Left(lot.key, lot.left) for lot in self.model.lots if lot.left
        ]

    @invariant()
    def the_sums_hold(self) -> None:
        balance = held = earned = 0
        previous = NO_HASH
        history = self.run(self.ledger.history(self.id))
        for seq, transfer in enumerate(history, start=1):
            explanation = orjson.loads(transfer.explanation)
            balance += transfer.points
            held += explanation.get("held", 0) if transfer.kind in OF_HELD else 0
            earned += transfer.points if transfer.kind in AWARDED else 0
            assert (transfer.seq, transfer.balance_after) == (seq, balance)
            assert explanation["points"] == transfer.points
            assert transfer.hash == chain(previous, transfer[:-1])
            previous = transfer.hash
        account = self.run(self.ledger.account(self.id))
        if account is not None:
            state = (account.balance, account.held, account.earned_total, account.last_seq, account.head_hash)
            assert state == (balance, held, earned, len(history), previous)
        assert len(history) == self.written

    def _move(self, movement: Movement, *, expected: bool) -> None:
        (moved,) = self.run(self.ledger.move([movement]))
        assert moved.status is (Status.POSTED if expected else Status.REFUSED), moved
        self.written += expected
        if expected:
            (again,) = self.run(self.ledger.move([movement]))
            assert again.status is Status.DUPLICATE
            (other,) = self.run(self.ledger.move([movement._replace(fingerprint="f" * 16)]))
            assert other.status is Status.CONFLICT

    def _reversal(self, key: str, of: str, part: Refund | int | None, *, clip: bool) -> Reversal:
        policy = OnShortfall.CLIP if clip else OnShortfall.NEGATIVE
        return Reversal(
            *(
                key,
                *self.id,
                "SG",
                FACTS,
                of,
                part,
                policy,
                "SG@1",
                None,
                None,
                SKYMILES.source if of in self.exchanges.values() else "stream",
                self.clock.now(),
                self._month_end(self.months),
                self.by_lots,
            )
        )

    def _agent(self, hold: str) -> Agent:
        return SKYMILES if hold in self.exchanges else ACME

    def _key(self, kind: str) -> str:
        return f"{kind}:{self.id[0]}-{next(self.numbers)}"

    def _month_end(self, months: int) -> date:
        month = Month.of(self.clock.now().date())
        for _ in range(abs(months)):
            month = month.after if months > 0 else month.before
        return month.last_day


@pytest.mark.long
def test_a_life_in_memory() -> None:
    run_state_machine_as_test(
        Life, settings=settings(max_examples=tries(by_day=80, by_night=200), stateful_step_count=50)
    )


@pytest.mark.long
@pytest.mark.whole
@pytest.mark.timeout(300)
def test_a_life_on_postgres(database_url: str) -> None:
    class LifeOnPostgres(Life):
        """On a database that all lives share."""

        @invariant()
        def the_past_is_told_as_it_was(self) -> None:
            """The last state of each moment."""
            account = self.run(self.ledger.account(self.id))
            if account is not None:
                then = vested(account, self.clock.now())
                self.past[self.clock.now()] = (then.balance, then.held, then.pending, then.expires_on)
            for moment, was in self.past.items():
                (told,) = self.run(MemberReader(self.pool).as_of(self.id[0], moment))
                assert (told.balance, told.held, told.pending, told.expires_on) == was

        def open(self, stack: ExitStack, clock: FixedClock) -> Living:
            self.past: dict[datetime, tuple[int, int, int, date | None]] = {}
            self.pool = pool = self.run(open_pool(database_url, size=2))
            owner = self.run(open_pool(database_url, size=1, role=None))
            stack.callback(lambda: self.run(pool.close()))
            stack.callback(lambda: self.run(owner.close()))
            return LivingOnPostgres(pool, clock, owner)

    run_state_machine_as_test(
        LifeOnPostgres,
        settings=settings(
            max_examples=tries(by_day=10, by_night=20), stateful_step_count=30, suppress_health_check=list(HealthCheck)
        ),
    )
    assert asyncio.run(_faults(database_url)) == []


async def _faults(database_url: str) -> list[str]:
    """The faults in all these lives; their awards are not recomputed, because their card was never published."""
    pool = await open_pool(database_url, size=2)
    try:
        report = await verify(pool, lambda each: None if each.kind in AWARDED else recompute(each, CardBook([])))
    finally:
        await pool.close()
    assert report.transfers
    return list(map(str, report.faults))
