"""Points that vest later: seen, not to be spent, and gone whole with a refund before their day; on every ledger."""

from datetime import date, datetime, timedelta
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.ledger.decide.chain import CURRENT, VESTING
from abacus.ledger.decide.pending import pending_at, portions, vested, with_pending, without
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.pricing.decide.card import OnShortfall
from tests.ledger.ledgers import NOW
from tests.ledger.moves import BOB, NOVEMBER, Batch, adjust, capture, earn, fates, hold, refund, release, reverse, spend
from tests.life.ledgers import Living, LivingInMemory
from tests.support.fixed_clock import FixedClock

P, POOR = "posted", "insufficient-points"
CLIP: Final = OnShortfall.CLIP
A_DAY: Final = timedelta(days=1)


def midnight(on: date) -> datetime:
    return datetime(on.year, on.month, on.day, tzinfo=NOW.tzinfo)


def later(points: int, key: str = "txn:rides:2", days: int = 14) -> Award:
    """A transaction whose points vest in so many days."""
    on = NOW.date() + days * A_DAY
    return earn(points, key, vests_on=on, vests_at=midnight(on))


# 100 points that can be spent, and then the batches with their fates; the balance, what is held and what is pending.
FATES: Final[dict[str, tuple[list[Batch], list[list[str]], tuple[int, int, int]]]] = {
    "it is seen and not available": ([[later(50)], [spend(101), spend(100, "k")]], [[P], [POOR, P]], (50, 0, 50)),
    "it is not held either": ([[later(50)], [hold(101), hold(100, "i")]], [[P], [POOR, P]], (150, 100, 50)),
    "it is not adjusted away": ([[later(50)], [adjust(-101), adjust(-100, "k")]], [[P], [POOR, P]], (50, 0, 50)),
    "what was held is captured beside it": ([[hold(60)], [later(50), capture()]], [[P], [P, P]], (90, 0, 50)),
    "what was held is free beside it": ([[hold(60)], [later(50), release()]], [[P], [P, P]], (150, 0, 50)),
    "its day has begun": ([[later(50, days=0)]], [[P]], (150, 0, 0)),
    "its day has begun, and it is spent": ([[later(50, days=0)], [spend(150)]], [[P], [P]], (0, 0, 0)),
    "two of one day": ([[later(50), later(20, "txn:rides:3")]], [[P, P]], (170, 0, 70)),
    "two of two days": ([[later(50), later(20, "txn:rides:3", 15)]], [[P, P]], (170, 0, 70)),
    "no points": ([[later(0)]], [[P]], (100, 0, 0)),
    "it is taken back whole": ([[later(50)], [reverse("txn:rides:2")]], [[P], [P]], (100, 0, 0)),
    "a part is taken back": ([[later(50)], [reverse("txn:rides:2", 20)]], [[P], [P]], (130, 0, 30)),
    "a refund's share": ([[later(50)], [refund("10.00", of="txn:rides:2")]], [[P], [P]], (140, 0, 40)),
    "it is taken back in parts": (
        [[later(50)], [reverse("txn:rides:2", 20), reverse("txn:rides:2", name="s")]],
        [[P], [P, P]],
        (100, 0, 0),
    ),
    "it is taken back whole though all else is spent": (
        [[later(50)], [spend(100), reverse("txn:rides:2", on_shortfall=CLIP)]],
        [[P], [P, P]],
        (0, 0, 0),
    ),
    "it is taken back whole though all else is held": (
        [[later(50)], [hold(100), reverse("txn:rides:2", on_shortfall=CLIP)]],
        [[P], [P, P]],
        (100, 100, 0),
    ),
    "another is taken back, and it stays": (
        [[later(50)], [spend(100), reverse(on_shortfall=CLIP)]],
        [[P], [P, P]],
        (50, 0, 50),
    ),
    "one of a day is taken back": (
        [[later(50), later(20, "txn:rides:3")], [reverse("txn:rides:2")]],
        [[P, P], [P]],
        (120, 0, 20),
    ),
    "a debt is not paid by it": (
        [[spend(100)], [reverse(), later(50)], [spend(1, "k")]],
        [[P], [P, P], [POOR]],
        (-50, 0, 50),
    ),
    "a spend comes back beside it": ([[later(50), spend(60)], [reverse("api:acme:1")]], [[P, P], [P]], (150, 0, 50)),
    "all else lapses": ([[later(50, days=200)], NOVEMBER], [[P], []], (50, 0, 50)),
}


@pytest.mark.parametrize("lifetime", [False, True], ids=["by activity", "by lots"])
@pytest.mark.parametrize("name", FATES)
async def test_what_becomes_of_pending_points(ledger: Living, name: str, *, lifetime: bool) -> None:
    batches, expected, end = FATES[name]
    await ledger.post([earn(100, lifetime=lifetime)])
    assert [await fates(ledger, batch) for batch in batches] == expected
    account = await ledger.account(BOB)
    assert account is not None
    assert (account.balance, account.held, account.pending) == end
    assert account.available == account.balance - account.held - account.pending


async def test_points_vest_with_the_clock() -> None:
    """Nothing else has to happen: the next movement finds them there, and leaves nothing behind."""
    clock = FixedClock(NOW)
    ledger = LivingInMemory(clock)
    await ledger.post([later(50)])
    assert await fates(ledger, [spend(1)]) == [POOR]
    clock.set(midnight(NOW.date() + 14 * A_DAY))
    assert await fates(ledger, [spend(1, "k")]) == [P]
    account = await ledger.account(BOB)
    assert account is not None
    assert (account.available, account.vesting) == (49, None)


async def test_a_transfer_keeps_the_day_and_has_a_format_of_its_own(ledger: Living) -> None:
    """Also the reversal that took pending points; all others are hashed as before."""
    await ledger.post([earn(100), later(50)])
    await fates(ledger, [spend(10), reverse("txn:rides:2", 20), reverse("txn:rides:1", 20, "s")])
    on = NOW.date() + 14 * A_DAY
    told = [(each.kind, each.vests_on, each.vests_at, each.format) for each in await ledger.history(BOB)]
    assert told == [
        ("earn", None, None, CURRENT),
        ("earn", on, midnight(on), VESTING),
        ("spend", None, None, CURRENT),
        ("reverse", on, midnight(on), VESTING),
        ("reverse", None, None, CURRENT),
    ]


BOBS: Final = Account.opened(BOB, "SG")._replace(balance=10**6)
moments = st.integers(0, 30).map(lambda days: NOW + days * A_DAY)


@given(st.lists(st.tuples(moments, st.integers(0, 100)), max_size=12), moments)
def test_pending_points_are_the_sum_of_days_to_come(awards: list[tuple[datetime, int]], then: datetime) -> None:
    account = BOBS
    for at, points in awards:
        account = with_pending(account, at, points, NOW)
    assert vested(account, then).pending == sum(points for at, points in awards if at > max(NOW, then))
    assert (vested(account, then).vesting is None) == (vested(account, then).pending == 0)
    for at, points in awards:
        before = pending_at(account, at)
        account = without(account, at, min(points, before))
    assert portions(account.vesting) == {}
