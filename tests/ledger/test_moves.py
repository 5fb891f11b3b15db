"""The promises of `MovesPort`, on every ledger there is."""

import asyncio
from datetime import timedelta
from typing import Final

import orjson
import pytest

from abacus.core.ids import expiry_claim
from abacus.ledger.types.account import MAX_BALANCE
from abacus.ledger.types.movement import Because, Movement
from abacus.ledger.types.port import Status
from abacus.pricing.decide.card import OnShortfall
from tests.ledger.ledgers import NOW
from tests.ledger.moves import (
    BOB,
    FACTS,
    NOVEMBER,
    SKYMILES,
    Batch,
    adjust,
    capture,
    earn,
    endless,
    exchange_in,
    exchange_out,
    fates,
    hold,
    lunch,
    refund,
    release,
    reverse,
    spend,
)
from tests.life.ledgers import Left, Living

SPENDERS: Final = 100
OTHER_FACTS: Final = "f" * 16
CLIP: Final = OnShortfall.CLIP
MOMENT: Final = timedelta(microseconds=1)


P, D, C = "posted", "duplicate", "conflict"
POOR, NONE, CLOSED, SMALL = "insufficient-points", "no-such-hold", "hold-not-open", "hold-too-small"
NEVER, DONE, FULL = "not-reversible", "reversed-already", "out-of-range"
TWO = "second-person-needed"
THEIRS = "hold-of-exchange"

OUT: Final = capture().key  # of `exchange_out`, too

# Bob has earned 100. The batches that follow; the fate of each order; his balance in the end, and the points on hold.
FATES: Final[dict[str, tuple[list[Batch], list[list[str]], tuple[int, int]]]] = {
    "much at once takes two": ([[reverse(alone=99)], [reverse(alone=100)]], [[TWO], [P]], (0, 0)),
    "much in parts takes two": (
        [[reverse(part=60, alone=80)], [reverse(part=21, name="s", alone=80)], [reverse(part=20, name="t", alone=80)]],
        [[P], [TWO], [P]],
        (20, 0),
    ),
    "much is taken back where two agreed": ([[reverse(approved_by="ben")]], [[P]], (0, 0)),
    "a refund of what names no amount": ([[spend(40)], [refund("1.00", of="api:acme:1")]], [[P], ["invalid"]], (60, 0)),
    "a refund in another currency than was paid": (
        [[lunch()], [refund("1.00", of="api:acme:1", currency="USD")]],
        [[P], ["unknown-currency"]],
        (60, 0),
    ),
    "nothing": ([[]], [[]], (100, 0)),
    "all of it is spent": ([[spend(100)]], [[P]], (0, 0)),
    "a point more than there is": ([[spend(101)]], [[POOR]], (100, 0)),
    "nobody's account": ([[spend(1, member="jane")]], [[POOR]], (100, 0)),
    "what a batch itself has spent": (
        [[spend(60, "k1"), spend(60, "k2"), spend(40, "k3"), spend(1, "k4")]],
        [[P, POOR, P, POOR]],
        (0, 0),
    ),
    "the same again": ([[spend(60)], [spend(60)]], [[P], [D]], (40, 0)),
    "twice in a batch": ([[spend(60), spend(60)]], [[P, D]], (40, 0)),
    "the key for other facts": ([[spend(60)], [spend(5, facts=OTHER_FACTS)]], [[P], [C]], (40, 0)),
    "the key for other facts, in a batch": (
        [[spend(60), spend(5, facts=OTHER_FACTS), spend(60)]],
        [[P, C, D]],
        (40, 0),
    ),
    "another's key": ([[spend(60)], [spend(5, member="jane", facts=OTHER_FACTS)]], [[P], [C]], (40, 0)),
    "an award's key": ([[spend(5, "txn:rides:1")]], [[C]], (100, 0)),
    "a refused key is free": ([[spend(101)], [spend(99)]], [[POOR], [P]], (1, 0)),
    "a refused one holds up no other": ([[spend(101, "k1"), spend(1, "k2")]], [[POOR, P]], (99, 0)),
    "what is held cannot be spent": ([[hold(60)], [spend(41), spend(40)]], [[P], [POOR, P]], (60, 60)),
    "what is held cannot be held": ([[hold(60), hold(41, "i"), hold(40, "j")]], [[P, POOR, P]], (100, 100)),
    "more than there is is not held": ([[hold(101)]], [[POOR]], (100, 0)),
    "a hold is captured whole": ([[hold(60)], [capture()]], [[P], [P]], (40, 0)),
    "a hold is captured in part, and the rest is free": ([[hold(60)], [capture(20), spend(80)]], [[P], [P, P]], (0, 0)),
    "a hold is captured to the last point": ([[hold(60)], [capture(60)]], [[P], [P]], (40, 0)),
    "more than is held is not captured": ([[hold(60)], [capture(61)]], [[P], [SMALL]], (100, 60)),
    "a capture that comes twice": ([[hold(60)], [capture()], [capture()]], [[P], [P], [D]], (40, 0)),
    "a hold is captured once": ([[hold(60)], [capture(1)], [capture(1, key="again")]], [[P], [P], [CLOSED]], (99, 0)),
    "a hold is captured once in a batch": (
        [[hold(60)], [capture(1), capture(1, key="again")]],
        [[P], [P, CLOSED]],
        (99, 0),
    ),
    "placed and captured in a batch": ([[hold(60), capture()]], [[P, P]], (40, 0)),
    "another's hold": (
        [[hold(60)], [capture(member_id="jane"), release(member_id="jane")]],
        [[P], [NONE, NONE]],
        (100, 60),
    ),
    "a hold of another program": (
        [[hold(60)], [capture(program="OVO"), release(program="OVO")]],
        [[P], [NONE, NONE]],
        (100, 60),
    ),
    "no hold at all": ([[capture(), release()]], [[NONE, NONE]], (100, 0)),
    "released, and free": ([[hold(60)], [release()], [spend(100)]], [[P], [P], [P]], (0, 0)),
    "released, so not captured": ([[hold(60)], [release()], [capture()]], [[P], [P], [CLOSED]], (100, 0)),
    "captured, so not released": ([[hold(60)], [capture(10)], [release()]], [[P], [P], [CLOSED]], (90, 0)),
    "released once": (
        [[hold(60), hold(40, "i")], [release()], [release(key="again")]],
        [[P, P], [P], [CLOSED]],
        (100, 40),
    ),
    "captured too late": ([[hold(60, until=NOW)], [capture()]], [[P], [CLOSED]], (100, 60)),
    "captured just in time": ([[hold(60, until=NOW + MOMENT)], [capture()]], [[P], [P]], (40, 0)),
    "over, so it expires": ([[hold(60, until=NOW)], [release(because=Because.EXPIRED)]], [[P], [P]], (100, 0)),
    "not over yet": ([[hold(60, until=NOW + MOMENT)], [release(because=Because.EXPIRED)]], [[P], [CLOSED]], (100, 60)),
    "adjusted": ([[adjust(5), adjust(-105, "adjust:2")]], [[P, P]], (0, 0)),
    "adjusted below zero": ([[adjust(-101)]], [[POOR]], (100, 0)),
    "what is held is not adjusted away": (
        [[hold(60)], [adjust(-41), adjust(-40, "adjust:2")]],
        [[P], [POOR, P]],
        (60, 60),
    ),
    "more than a balance holds": (
        [[adjust(MAX_BALANCE - 99), adjust(MAX_BALANCE - 100, "adjust:2")]],
        [[FULL, P]],
        (MAX_BALANCE, 0),
    ),
    "taken back": ([[reverse()]], [[P]], (0, 0)),
    "taken back once": ([[reverse()], [reverse(name="s")], [reverse(part=1, name="t")]], [[P], [DONE], [DONE]], (0, 0)),
    "several of one account in a batch": (
        [[reverse(part=60), reverse(part=60, name="s"), reverse(part=40, name="t"), reverse(name="u")]],
        [[P, DONE, P, DONE]],
        (0, 0),
    ),
    "the same taken back twice in a batch": ([[reverse(), reverse()]], [[P, D]], (0, 0)),
    "taken back and spent in a batch": ([[reverse(part=60), spend(60), spend(41, "k2")]], [[P, P, POOR]], (-20, 0)),
    "what was never posted": ([[reverse("txn:rides:2")]], [[NEVER]], (100, 0)),
    "another's award": ([[reverse(member_id="jane")]], [[NEVER]], (100, 0)),
    "an award of another program": ([[reverse(program="OVO")]], [[NEVER]], (100, 0)),
    "a hold is not taken back": ([[hold(60)], [reverse("api:acme:h")]], [[P], [NEVER]], (100, 60)),
    "what was taken back is not taken back": ([[reverse()], [reverse("api:acme:r", name="s")]], [[P], [NEVER]], (0, 0)),
    "a lapse is not taken back": (
        [NOVEMBER, [reverse(expiry_claim(NOVEMBER.key.removeprefix("expiry:"), *BOB))]],
        [[], [NEVER]],
        (0, 0),
    ),
    "a spend is given back": ([[spend(60)], [reverse("api:acme:1")]], [[P], [P]], (100, 0)),
    "a spend is given back once": (
        [[spend(60)], [reverse("api:acme:1", 50), reverse("api:acme:1", 11, "s"), reverse("api:acme:1", 10, "t")]],
        [[P], [P, DONE, P]],
        (100, 0),
    ),
    "an adjustment is taken back": ([[adjust(5)], [reverse("adjust:1")]], [[P], [P]], (100, 0)),
    "an adjustment is given back": ([[adjust(-5)], [reverse("adjust:1")]], [[P], [P]], (100, 0)),
    "refunds take what was earned and no more": (
        [[refund("33.34"), refund("33.33", "s"), refund("33.33", "t"), refund("5.00", "u")]],
        [[P, P, P, P]],
        (0, 0),
    ),
    "a refund in another currency": ([[refund("1.00", currency="MYR")]], [["unknown-currency"]], (100, 0)),
    "a refund in another country": ([[refund("1.00", country="MY")]], [["invalid"]], (100, 0)),
    "a refund of what no amount earned": ([[adjust(5)], [refund("1.00", of="adjust:1")]], [[P], ["invalid"]], (105, 0)),
    "held for an exchange, and captured by it": ([[endless(60)], [exchange_out()]], [[P], [P]], (40, 0)),
    "held for an exchange, and released by it": (
        [[endless(60)], [release(source=SKYMILES), release(source=SKYMILES, key="again")]],
        [[P], [P, CLOSED]],
        (100, 0),
    ),
    "a hold of an exchange is not another's to capture": (
        [[endless(60)], [capture(), capture(key="b", source="exchange:others")]],
        [[P], [THEIRS, THEIRS]],
        (100, 60),
    ),
    "a hold of an exchange is not another's to release": (
        [[endless(60)], [release(), release(source="clock", because=Because.EXPIRED, key="b")]],
        [[P], [THEIRS, THEIRS]],
        (100, 60),
    ),
    "what was exchanged comes back by its exchange": (
        [[endless(60), exchange_out()], [reverse(OUT, source=SKYMILES)]],
        [[P, P], [P]],
        (100, 0),
    ),
    "what was exchanged comes back by nobody else": (
        [[endless(60), exchange_out()], [reverse(OUT)]],
        [[P, P], [NEVER]],
        (40, 0),
    ),
    "what comes by an exchange": ([[exchange_in(50), exchange_in(50)]], [[P, D]], (150, 0)),
    "what comes by an exchange is not taken back": (
        [[exchange_in(50)], [reverse("exchange:skyways:1")]],
        [[P], [NEVER]],
        (150, 0),
    ),
    "a hold stays when its points are taken back": ([[hold(60)], [reverse()]], [[P], [P]], (0, 60)),
}


@pytest.mark.parametrize("name", FATES)
async def test_what_becomes_of_each(ledger: Living, name: str) -> None:
    batches, expected, end = FATES[name]
    await ledger.post([earn(100)])
    assert [await fates(ledger, batch) for batch in batches] == expected
    account = await ledger.account(BOB)
    assert account is not None
    assert (account.balance, account.held) == end
    history = await ledger.history(BOB)
    assert [transfer.seq for transfer in history] == list(range(1, account.last_seq + 1))
    assert history[-1].balance_after == account.balance == sum(transfer.points for transfer in history)


# The batches before, a reversal, and the points that it took: in all, of its own lot, lapsed before, and not there to
# be taken; the lots that are left then.
FIRST, SECOND = earn(100), earn(50, "txn:rides:2")
TAKEN: Final[dict[str, tuple[list[Batch], Batch, tuple[int, int, int, int], list[Left]]]] = {
    "its own lot first": ([[SECOND]], [reverse("txn:rides:2")], (-50, 50, 0, 0), [Left("txn:rides:1", 100)]),
    "its own lot was spent": ([[SECOND], [spend(100)]], [reverse(part=40)], (-40, 0, 0, 0), [Left("txn:rides:2", 10)]),
    "its own lot was spent in part": ([[SECOND], [spend(70)]], [reverse()], (-100, 30, 0, 0), []),
    "its own lot was spent in part, after one that is used up": (
        [[SECOND], [spend(120)]],
        [reverse("txn:rides:2")],
        (-50, 30, 0, 0),
        [],
    ),
    "nothing is there": ([[spend(100)]], [reverse()], (-100, 0, 0, 0), []),
    "nothing is there, and none may be owed": ([[spend(100)]], [reverse(on_shortfall=CLIP)], (0, 0, 0, 100), []),
    "some is there, and none may be owed": ([[spend(70)]], [reverse(on_shortfall=CLIP)], (-30, 30, 0, 70), []),
    "some is held, and none may be owed": (
        [[hold(60)]],
        [reverse(on_shortfall=CLIP)],
        (-40, 40, 0, 60),
        [Left("txn:rides:1", 60)],
    ),
    "more is held than there is, and none may be owed": (
        [[hold(60)], [reverse(part=70)]],
        [reverse(name="s", on_shortfall=CLIP)],
        (0, 0, 0, 30),
        [Left("txn:rides:1", 30)],
    ),
    "it lapsed": ([NOVEMBER, [SECOND]], [reverse()], (0, 0, 100, 0), [Left("txn:rides:2", 50)]),
    "some was spent, and the rest lapsed": (
        [[spend(30)], NOVEMBER, [SECOND]],
        [reverse()],
        (-30, 0, 70, 0),
        [Left("txn:rides:2", 20)],
    ),
    "some was taken back, some spent, and the rest lapsed": (
        [[reverse(part=30)], [spend(20)], NOVEMBER, [SECOND]],
        [reverse(name="s")],
        (-20, 0, 50, 0),
        [Left("txn:rides:2", 30)],
    ),
    "what lapsed makes up for it once": (
        [[spend(60)], NOVEMBER, [SECOND], [reverse(part=60)]],
        [reverse(name="s")],
        (-40, 0, 0, 0),
        [],
    ),
    "a refund's share is rounded down": ([], [refund("33.339")], (-33, 33, 0, 0), [Left("txn:rides:1", 67)]),
    "what went before is part of the share": (
        [[refund("33.339")]],
        [refund("33.339", "s")],
        (-33, 33, 0, 0),
        [Left("txn:rides:1", 34)],
    ),
    "the refund that completes it takes the rest": (
        [[refund("33.339")], [refund("33.339", "s")]],
        [refund("33.322", "t")],
        (-34, 34, 0, 0),
        [],
    ),
    "more was taken back than a refund's share": (
        [[reverse(part=50)]],
        [refund("10.00", "s")],
        (0, 0, 0, 0),
        [Left("txn:rides:1", 50)],
    ),
    "a spend comes back as a lot": (
        [[spend(60)]],
        [reverse("api:acme:1")],
        (60, 0, 0, 0),
        [Left("txn:rides:1", 40), Left("api:acme:r", 60)],
    ),
    "what comes back pays a debt first": (
        [[spend(60)], [reverse()]],
        [reverse("api:acme:1", name="s")],
        (60, 0, 0, 0),
        [],
    ),
}


# A lunch of so much is paid by 40 points and other money. What was refunded of it before, a refund, and what that gives
# back: points and other money, and what is left of both.
GIVEN_BACK: Final[dict[str, tuple[str | None, list[Movement], str, tuple[int, str, int, str]]]] = {
    "half of it": ("10.00", [], "5.00", (20, "4.80", 20, "4.80")),
    "all of it": ("10.00", [], "10.00", (40, "9.60", 0, "0.00")),
    "the other half": ("10.00", [refund("5.00", of="api:acme:1")], "5.00", (20, "4.80", 0, "0.00")),
    "less than a point": ("10.00", [], "0.24", (0, "0.23", 40, "9.37")),
    "the rest of that point": ("10.00", [refund("0.24", of="api:acme:1")], "0.01", (1, "0.01", 39, "9.36")),
    "after some points alone": ("10.00", [reverse("api:acme:1", 30)], "5.00", (0, "4.80", 10, "4.80")),
    "all was paid by points": (None, [], "0.10", (10, "0.00", 30, "0.00")),
}


@pytest.mark.parametrize("name", GIVEN_BACK)
async def test_a_refund_of_a_purchase_gives_back_points_and_money(ledger: Living, name: str) -> None:
    price, before, amount, back = GIVEN_BACK[name]
    await ledger.post([earn(100)])
    await fates(ledger, [lunch(price), *before])
    assert await fates(ledger, [refund(amount, "s", of="api:acme:1")]) == [Status.POSTED]
    told = orjson.loads((await ledger.history(BOB))[-1].explanation)
    assert (told["points"], told["money"], told["points_left"], told["money_left"]) == back


@pytest.mark.parametrize("lifetime", [False, True], ids=["by activity", "by lots"])
@pytest.mark.parametrize("name", TAKEN)
async def test_what_is_taken_back(ledger: Living, name: str, *, lifetime: bool) -> None:
    before, reversal, taken, left = TAKEN[name]
    await ledger.post([FIRST._replace(lifetime=lifetime)])
    for batch in before:
        await fates(ledger, batch)
    assert await fates(ledger, reversal) == [Status.POSTED]
    last = (await ledger.history(BOB))[-1]
    told = orjson.loads(last.explanation)
    assert (told["points"], told["own_lot"], told["expired"], told["clipped"]) == taken
    assert last.points == taken[0]
    assert await ledger.open_lots(BOB) == left


async def test_many_spend_at_once_and_never_more_than_there_is(ledger: Living) -> None:
    await ledger.post([earn(50)])
    moved = await asyncio.gather(*(ledger.move([spend(1, f"api:acme:{place}")]) for place in range(SPENDERS)))
    statuses = [each.status for (each,) in moved]
    assert (statuses.count(Status.POSTED), statuses.count(Status.REFUSED)) == (50, 50)
    assert min(transfer.balance_after for transfer in await ledger.history(BOB)) == 0


async def test_what_stands_is_told_with_a_key_that_is_taken(ledger: Living) -> None:
    await ledger.post([earn(100)])
    (posted,) = await ledger.move([spend(60)])
    (again,) = await ledger.move([spend(60)])
    assert posted.transfer is not None
    assert posted.account is not None
    assert posted.account.balance == 40
    assert again.claim is not None
    assert (again.transfer, again.account, again.claim.fingerprint) == (None, None, FACTS)
    assert (again.claim.key, again.claim.seq) == (posted.transfer.key, posted.transfer.seq)


@pytest.mark.parametrize("member_id", ["=1+1", "bo\u200bb", "a\u00a0b"])
async def test_no_account_is_opened_for_such_an_id(ledger: Living, member_id: str) -> None:
    """And its neighbours are posted."""
    awards = [earn(5, f"txn:rides:{each}", member_id=each) for each in (member_id, "bob", member_id)]
    awards[2] = awards[2]._replace(key="txn:rides:again")
    assert await fates(ledger, awards) == ["invalid", "posted", "invalid"]
    adjusted = [adjust(5, f"adjust:{each}", member_id=each) for each in (member_id, "bob")]
    assert await fates(ledger, adjusted) == ["invalid", "posted"]
    assert await ledger.account((member_id, "GRP")) is None
