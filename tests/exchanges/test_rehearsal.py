"""Exchanges with a partner that is only played, on a real ledger: each way on is seen under a clock that is set."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

import pytest

from abacus.exchanges import rehearsal
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import ByHttp
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.decide.rehearsed import DECIDES_AFTER, SENDS_AFTER, rehearsed
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.exchanges.rehearsal import PlayedLines, PlayedPartner, RehearsedProgrammes, ReviewsAtOnce, keep_carrying
from abacus.exchanges.types import Account
from abacus.platform.postgres import Pool
from tests.support.exchange_house import SHOP, ExchangeHouse
from tests.support.exchanged import NOW, exchange, skymiles
from tests.support.rewards import give_points


async def a_house(pool: Pool, number: str = "12345678", **of: object) -> ExchangeHouse:
    """Without money at the partner."""
    await give_points(pool, ["bob"], 10_000)

    async def accounts(links: Sequence[UUID]) -> Mapping[UUID, Account]:
        return {each: Account(number) for each in links}

    house = ExchangeHouse(pool, rehearsed(skymiles(**of)), accounts_of=accounts)
    house.partner = PlayedPartner(pool, accounts, house.clock)
    house.reviews = ReviewsAtOnce()
    return house


async def came_to(house: ExchangeHouse, exchange: Exchange) -> tuple[State, str | None]:
    now = await house.now(exchange)
    return now.state, now.reason


async def test_what_is_credited_is_captured_and_taken_back(pool: Pool) -> None:
    house = await a_house(pool)
    held = await house.exchange()
    await house.later()
    done = await house.now(held)
    assert done.reference == f"TEST-{held.exchange_id.hex[:12].upper()}"
    assert await house.trail(done) == ["held", "sent", "credited", "captured"]
    await house.desk.reverse(done, SHOP)
    await house.later()
    assert (await came_to(house, held), await house.points()) == ((State.REVERSED, None), (10_000, 0))


@pytest.mark.parametrize("remembers", [True, False])
async def test_what_is_refused_is_free_again(pool: Pool, *, remembers: bool) -> None:
    house = await a_house(pool, "000000005-bob", carrier=ByHttp("https://partner.example", remembers))
    held = await house.exchange()
    await house.later()
    assert (await came_to(house, held), await house.points()) == ((State.RELEASED, "cap-reached"), (10_000, 0))


@pytest.mark.parametrize(
    ("number", "meanwhile"),
    [("000000007-bob", (State.SENT, None)), ("000000008-bob", (State.UNKNOWN, "no-answer"))],
)
async def test_what_is_decided_later_shows_how_it_waits(
    pool: Pool, number: str, meanwhile: tuple[State, str | None]
) -> None:
    house = await a_house(pool, number)
    held = await house.exchange()
    await house.later()
    await house.later(DECIDES_AFTER / 2)
    assert (await came_to(house, held), await house.points()) == (meanwhile, (10_000, 2500))
    await house.later(DECIDES_AFTER)
    assert (await came_to(house, held), await house.points()) == ((State.CAPTURED, None), (7500, 0))


async def test_what_is_kept_stays_captured(pool: Pool) -> None:
    house = await a_house(pool, "000000009-bob")
    held = await house.exchange()
    await house.later()
    await house.desk.reverse(await house.now(held), SHOP)
    await house.later()
    assert (await came_to(house, held), await house.points()) == ((State.CAPTURED, "not-taken-back"), (7500, 0))


async def test_what_is_large_is_let_go_at_once(pool: Pool) -> None:
    house = await a_house(pool, review_above=1000)
    asked = await house.exchange()
    assert asked.state is State.REVIEW
    await house.later()
    done = await house.now(asked)
    assert await house.trail(done) == ["review", "held", "sent", "credited", "captured"]


async def test_lines_send_what_is_in_force_and_not_kept_back(pool: Pool) -> None:
    live = Programmes([InForce(skymiles(starts_at=NOW + timedelta(days=1)), ExchangePublications(NOW))])
    in_force = [live]
    programmes = RehearsedProgrammes(lambda: in_force[0], ProgrammeVersions(ProgrammeStore(pool)))
    house = await a_house(pool)
    lines = PlayedLines(PlayedPartner(pool, house.accounts_of, house.clock), programmes)
    first = programmes.in_force()
    assert programmes.in_force() is first
    in_force[0] = Programmes(live.by_name.values())
    assert programmes.in_force().by_name["skymiles"] is first.by_name["skymiles"]
    assert lines.may_begin(exchange(), NOW)  # it has not begun
    assert not lines.may_begin(exchange(), skymiles().ends_at)
    held = exchange(member_id="held-bob")
    assert [lines.may_begin(held, each) for each in (NOW, NOW + SENDS_AFTER)] == [False, True]
    in_force[0] = Programmes([])
    assert not lines.may_begin(exchange(), NOW)
    assert not await lines.is_stopped()


async def test_no_fault_of_the_sandbox_ends_the_process(monkeypatch: pytest.MonkeyPatch, pool: Pool) -> None:
    house, rounds, goes_on = await a_house(pool), list[int](), asyncio.Event()

    async def go_round() -> int:
        rounds.append(1)
        if len(rounds) == 1:
            raise ZeroDivisionError
        goes_on.set()
        return 0

    monkeypatch.setattr(house.exchanger, "go_round", go_round)
    monkeypatch.setattr(rehearsal, "_ASIDE_S", 0.0)
    monkeypatch.setattr(rehearsal, "_IDLE_S", 0.0)
    carrying = asyncio.create_task(keep_carrying(house.exchanger))
    async with asyncio.timeout(10):
        await goes_on.wait()
    carrying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await carrying
