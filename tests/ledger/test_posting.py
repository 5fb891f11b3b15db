"""Posting batches: awards come twice, late, together or in conflict; each key is posted once, and the sums hold."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.errors import Reason
from abacus.ledger.decide.batch import accounts_touched, plan
from abacus.ledger.decide.chain import chain
from abacus.ledger.types.account import MAX_BALANCE, NO_HASH, Account, AccountId
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.port import AwardOutcome, Claim, Status
from abacus.ledger.types.transfer import Transfer
from tests.support.awards import AWARD, NOW, award
from tests.support.fixed_clock import FixedClock
from tests.support.memory_ledger import MemoryLedger

FACTS, OTHER_FACTS = "0" * 16, "f" * 16
BOB, EVE = ("bob", "GRP"), ("eve", "GRP")


@st.composite
def few_awards(draw: st.DrawFn, *, conflicts: bool) -> Award:
    """Awards of so few keys, members and programs that most meet again; a key means one award, or one of two."""
    number = draw(st.integers(0, 9))
    other = conflicts and draw(st.booleans())
    return award(
        key=f"txn:rides:{number}",
        member_id="abcabcabcd"[number] + ("x" if other and number % 2 else ""),
        program="GRP" if number % 3 else "OVO",
        points=number * 10 + other,
        expires_on=date(2026, 7, 31) + timedelta(days=number * 7 % 5),
        activity=bool(number % 4),
        fingerprint=OTHER_FACTS if other else FACTS,
    )


deliveries = st.lists(few_awards(conflicts=True), max_size=30)
repetitions = st.lists(few_awards(conflicts=False), max_size=30)
batchings = st.lists(st.integers(1, 8), max_size=30)


def batches(awards: Sequence[Award], sizes: Sequence[int]) -> list[Sequence[Award]]:
    """The awards in batches of these sizes, and the rest in one."""
    cut: list[Sequence[Award]] = []
    for size in sizes:
        cut.append(awards[:size])
        awards = awards[size:]
    return [*cut, awards]


async def posted(awards: Sequence[Award], sizes: Sequence[int]) -> tuple[MemoryLedger, list[AwardOutcome]]:
    """The ledger after the batches; no batch may change a row that stands."""
    clock = FixedClock(NOW)
    ledger, outcomes = MemoryLedger(clock), []
    for batch in batches(awards, sizes):
        claims, transfers = dict(ledger.claims), list(ledger.transfers)
        outcomes += await ledger.post(batch)
        assert claims.items() <= ledger.claims.items()
        assert ledger.transfers[: len(transfers)] == transfers
        clock.set(clock.now() + timedelta(seconds=1))
    return ledger, outcomes


def by_account(transfers: Sequence[Transfer]) -> dict[AccountId, list[Transfer]]:
    lines: dict[AccountId, list[Transfer]] = defaultdict(list)
    for transfer in transfers:
        lines[(transfer.member_id, transfer.program)].append(transfer)
    return lines


@given(deliveries, batchings)
@settings(max_examples=150, deadline=None)
async def test_each_key_is_posted_once_and_every_award_is_answered(awards: list[Award], sizes: list[int]) -> None:
    ledger, outcomes = await posted(awards, sizes)
    assert [outcome.award for outcome in outcomes] == awards
    first: dict[str, Award] = {}
    for outcome in outcomes:
        winner = first.setdefault(outcome.award.key, outcome.award)
        claim = ledger.claims[winner.key]
        if winner is outcome.award and outcome.status is Status.POSTED:
            assert outcome.transfer in ledger.transfers
            assert (claim.member_id, claim.program, claim.fingerprint) == (
                winner.member_id,
                winner.program,
                winner.fingerprint,
            )
        else:
            same = outcome.award.fingerprint == winner.fingerprint
            assert outcome.status is (Status.DUPLICATE if same else Status.CONFLICT)
            assert (outcome.claim, outcome.transfer) == (claim, None)
    assert sum(outcome.status is Status.POSTED for outcome in outcomes) == len(first)
    assert sorted(transfer.key for transfer in ledger.transfers) == sorted(first)
    assert {key: (c.member_id, c.program, c.seq) for key, c in ledger.claims.items()} == {
        transfer.key: (transfer.member_id, transfer.program, transfer.seq) for transfer in ledger.transfers
    }


@given(deliveries, batchings)
@settings(max_examples=150, deadline=None)
async def test_balances_are_sums_and_sequences_have_no_gaps(awards: list[Award], sizes: list[int]) -> None:
    ledger, _ = await posted(awards, sizes)
    lines = by_account(ledger.transfers)
    assert set(lines) == set(ledger.accounts)
    for id_, account in ledger.accounts.items():
        line = lines[id_]
        assert [transfer.seq for transfer in line] == list(range(1, account.last_seq + 1))
        assert account.balance == sum(transfer.points for transfer in line) == line[-1].balance_after
        assert account.earned_total == account.balance
        previous = NO_HASH
        for transfer in line:
            assert chain(previous, transfer[:-1]) == transfer.hash
            previous = transfer.hash
        assert account.head_hash == previous


@given(deliveries, batchings, batchings, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
async def test_any_order_and_any_batching_post_the_same_keys(
    awards: list[Award], sizes: list[int], other_sizes: list[int], order: Random
) -> None:
    ledger, _ = await posted(awards, sizes)
    shuffled = order.sample(awards, len(awards))
    other, _ = await posted(shuffled, other_sizes)
    assert ledger.claims.keys() == other.claims.keys()


@given(repetitions, batchings, batchings, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
async def test_without_conflicts_any_order_and_any_batching_end_in_the_same_balances(
    awards: list[Award], sizes: list[int], other_sizes: list[int], order: Random
) -> None:
    ledger, _ = await posted(awards, sizes)
    other, outcomes = await posted(order.sample(awards, len(awards)) + awards, other_sizes)
    assert {outcome.status for outcome in outcomes} <= {Status.POSTED, Status.DUPLICATE}
    assert {id_: (account.balance, account.last_seq) for id_, account in ledger.accounts.items()} == {
        id_: (account.balance, account.last_seq) for id_, account in other.accounts.items()
    }


P, D, C, R = Status.POSTED, Status.DUPLICATE, Status.CONFLICT, Status.REFUSED
A, AGAIN_AS_EVE = award(key="a"), award(key="a", member_id="eve", points=1, fingerprint=OTHER_FACTS)

# The batch, posted to a ledger where bob's key "old" is taken and eve has 100 points less than an account can hold;
# the outcome of each award, in order.
BATCHES: list[tuple[str, list[Award], list[Status]]] = [
    ("nothing", [], []),
    ("one", [A], [P]),
    ("twice the same", [A, A], [P, D]),
    ("the same key for others, in one batch", [A, AGAIN_AS_EVE, A], [P, C, D]),
    ("the other one first", [AGAIN_AS_EVE, A], [P, C]),
    ("posted before", [award(key="old")], [D]),
    ("posted before for other facts", [award(key="old", fingerprint=OTHER_FACTS)], [C]),
    ("posted before under another rate", [award(key="old", points=999, explanation=b"{}")], [D]),
    ("more than eve can hold", [award(key="big", member_id="eve", points=101), A], [R, P]),
    ("as much as eve can hold", [award(key="big", member_id="eve", points=100), A], [P, P]),
    (
        "too much, then its key again for less",
        [award(key="k", member_id="eve", points=101), award(key="k", member_id="eve", points=1)],
        [R, P],
    ),
    (
        "too much after what the batch itself has given",
        [award(key="k", member_id="eve", points=60), award(key="l", member_id="eve", points=60)],
        [P, R],
    ),
]


@pytest.mark.parametrize(("batch", "statuses"), [pytest.param(*row, id=name) for name, *row in BATCHES])
async def test_one_batch(batch: list[Award], statuses: list[Status]) -> None:
    ledger = MemoryLedger(FixedClock(NOW))
    await ledger.post([award(key="old")])
    ledger.accounts[EVE] = Account.opened(EVE, "SG")._replace(balance=MAX_BALANCE - 100)
    outcomes = await ledger.post(batch)
    assert [outcome.status for outcome in outcomes] == statuses
    assert [outcome.award for outcome in outcomes] == batch
    faults = [outcome.fault.reason for outcome in outcomes if outcome.fault]
    assert faults == [Reason.OUT_OF_RANGE] * statuses.count(R)
    assert set(ledger.claims) == {"old"} | {
        each.key for each, status in zip(batch, statuses, strict=True) if status is P
    }


def test_a_conflict_names_the_claim_that_stands() -> None:
    claim = Claim("a", "bob", "GRP", 7, FACTS)
    (outcome,) = plan([AGAIN_AS_EVE], {"a": claim}, {}, NOW).outcomes
    assert outcome == AwardOutcome(AGAIN_AS_EVE, Status.CONFLICT, claim=claim)


def test_what_is_written_stands_in_the_order_in_which_locks_are_taken() -> None:
    batch = [award(key=key, member_id=member) for key, member in (("c", "eve"), ("a", "bob"), ("b", "eve"))]
    touched = accounts_touched(batch, {})
    decided = plan(batch, {}, {id_: Account.opened(id_, country) for id_, country in touched.items()}, NOW)
    assert list(touched) == [BOB, EVE]
    assert [claim.key for claim in decided.claims] == ["a", "b", "c"]
    assert {claim.key: claim.seq for claim in decided.claims} == {"c": 1, "a": 1, "b": 2}
    assert [transfer.key for transfer in decided.transfers] == ["c", "a", "b"]
    assert all(transfer.posted_at == NOW for transfer in decided.transfers)


@pytest.mark.parametrize(
    ("batch", "claimed", "touched"),
    [
        ([], {}, {}),
        ([AWARD], {}, {BOB: "SG"}),
        ([AWARD], {AWARD.key}, {}),
        ([award(key="a"), award(key="b", country="MY")], {}, {BOB: "SG"}),
        ([award(key="a", country="SG"), award(key="b", country="MY")], {"a"}, {BOB: "MY"}),
        ([award(key="a", member_id="eve"), award(key="b")], {}, {BOB: "SG", EVE: "SG"}),
        ([award(key="a", program="OVO"), award(key="b")], {}, {BOB: "SG", ("bob", "OVO"): "SG"}),
    ],
    ids=["nothing", "one", "taken", "the first opens it", "the first that is free opens it", "sorted", "programs"],
)
def test_the_accounts_that_are_locked(batch: list[Award], claimed: set[str], touched: dict[AccountId, str]) -> None:
    taken = {key: Claim(key, "bob", "GRP", 1, FACTS) for key in claimed}
    accounts = accounts_touched(batch, taken)
    assert (accounts, list(accounts)) == (touched, sorted(touched))
