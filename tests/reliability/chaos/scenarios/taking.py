"""32 callers take offers and redeem rewards while processes are killed and Postgres is silent: no limit is passed,
nothing is given twice, and the sums fit.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from abacus.engage.limits.pot_rows import used
from abacus.engage.limits.types import MICROS
from abacus.engage.offers.codes.desk import drawn_codes
from abacus.engage.offers.decide.offer import OWNER_KIND
from abacus.engage.offers.invitations import InvitationStore
from abacus.engage.offers.offer_store import OfferStore
from abacus.oversight.reconcile.offers import compared_offers
from abacus.oversight.reconcile.rewards import reward_books
from abacus.platform import slices
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.postgres import snapshot
from tests.reliability.chaos.crew import Worker
from tests.reliability.chaos.faults.fault import Struck, at_moments
from tests.reliability.chaos.ground import READY_WITHIN_S, ProvingGround
from tests.reliability.chaos.needs import Need
from tests.reliability.chaos.scenarios.scenario import Scenario, Stage
from tests.reliability.chaos.scenarios.takers import CODED, INVITED, REWARD, Counters, Told, is_invited, member_of, take
from tests.support.on_offer import put_in_catalogue, put_on_offer, put_on_offer_by_codes
from tests.support.patient import PatientCaller
from tests.support.ports import free_ports
from tests.support.rewards import load_codes
from tests.support.shop import new_partner

CALLERS: Final = 32
_PROCESSES: Final = 2  # of each worker
_S_A_TURN: Final = 1.0
_POINTS: Final = 100_000
_PRICE: Final = 500
_BONUS: Final = 50
_OF_A_MEMBER: Final = 6
_FINISHED_WITHIN_S: Final = 60.0
_AT_WORK: Final = "select stage from reward_redemption where stage in ('opened', 'taken', 'releasing', 'returning')"
_BY_MEMBER: Final = """
select member_id, count(*) from offer_reservation where offer = 'cash' and status in ('held', 'redeemed')
group by member_id
"""
_BY_CODE: Final = "select reservation_id from offer_reservation where offer = 'coded' and status = 'redeemed'"
_CODES: Final = "select reservation_id from offer_code_use"  # a reservation has one at most
_GIVEN: Final = "select count(*) from reward_code where redemption_id is not null"
_KEPT: Final = "select count(*) from reward_redemption where stage = 'given'"
_ALL_POINTS: Final = (
    "select sum(balance)::bigint, sum(held)::bigint from account where starts_with(member_id, 'taker-')"
)


async def _play(stage: Stage, rng: Random) -> None:
    ground, turns = stage.ground, max(2, round(stage.plan.overload_s / _S_A_TURN))
    key, keyring = await new_partner(ground.pool, "taking", may_use_offers=True), new_keyring_text("one")
    codes = list(drawn_codes(CALLERS * turns // 24))
    limits = await _open(ground, turns, codes, Secrets.of(keyring))
    ports = {name: free_ports(_PROCESSES) for name in ("offers", "api")}
    victims = [
        ground.crew.hire(name, told={f"ABACUS_{name.upper()}_PORT": str(port), "ABACUS_SECRETS_KEY": keyring})
        for name, of_name in ports.items()
        for port in of_name
    ]
    ground.crew.hire("campaigner")  # hands over the points of offers
    await ground.crew.ready(READY_WITHIN_S)
    await _give_points(stage, ports["api"], key)
    await stage.send(stage.third(0))
    async with _killed(victims, rng) as killed, _silent(ground, rng) as silent:
        told = await take(CALLERS, turns, Counters(ports["offers"], ports["api"], key, codes), rng)
        stage.seen.update(killed + silent)
    stage.seen.update(told.outcomes)
    stage.faults += told.faults

    async def all_finished() -> bool:
        return not await ground.pool.fetch(_AT_WORK)

    await stage.until("every redemption has ended", all_finished, _FINISHED_WITHIN_S)
    await stage.rests()
    for fault in [
        *await _of_limits(ground, limits),
        *await _of_sums(ground),
        *await _of_codes(ground, told),
        *await _of_told(ground, told),
    ]:
        stage.hold(fault, if_=False)


async def _open(ground: ProvingGround, turns: int, single_codes: Sequence[str], secrets: Secrets) -> dict[str, int]:
    """Offers and a reward of which there is less than is asked for; the uses, or the millionths, that each may have."""
    uses = CALLERS * turns // 12
    pool, budget = ground.pool, f"{uses}.00"
    await put_on_offer(pool, "cash", {"amount_off": "1"}, limits={"uses": {"overall": uses, "member": _OF_A_MEMBER}})
    await put_on_offer(pool, "budget", {"amount_off": "1.50"}, limits={"money": {"overall": budget}})
    await put_on_offer(pool, "bonus", {"points_plus": _BONUS}, limits={"uses": {"day": uses}})
    await put_on_offer_by_codes(pool, CODED, single_codes, secrets)
    await put_on_offer(pool, INVITED, {"amount_off": "1"}, limits={"unlimited": True}, audience="invitation")
    numbers = await OfferStore(pool).numbers([INVITED])
    await InvitationStore(pool).add(numbers[INVITED], {member_of(each) for each in range(CALLERS) if is_invited(each)})
    await load_codes(pool, (f"C{number}" for number in range(CALLERS * turns // 4)), secrets=secrets)
    await put_in_catalogue(pool, REWARD, price={"points": _PRICE}, limits={"uses": {"overall": CALLERS * turns // 5}})
    return {"cash": uses, "budget": uses * MICROS, "bonus": uses}


async def _give_points(stage: Stage, ports: Sequence[int], key: str) -> None:
    members = sorted({member_of(number) for number in range(CALLERS)})
    async with PatientCaller(ports, key) as caller:
        for member in members:
            body = {"member_id": member, "country": "SG", "points": _POINTS, "reason": "Welcome"}
            answer = await caller.post("awards", member, body)
            stage.hold(f"{member} gets points, not {answer.status_code} {answer.text}", if_=answer.status_code < 300)

    async def all_there() -> bool:
        points, _ = await stage.ground.pool.fetchrow(_ALL_POINTS)
        return bool(points == _POINTS * len(members))

    await stage.until("all members have points", all_there, _FINISHED_WITHIN_S)


@asynccontextmanager
async def _killed(victims: list[Worker], rng: Random) -> AsyncIterator[Struck]:
    """While most of them are ready: where processes take long to start, callers would never come to an end else."""

    async def strike(struck: Struck) -> None:
        working = [each for each in victims if each.ready]
        if 2 * len(working) > len(victims) and (victim := rng.choice(working)).kill():
            struck[f"{victim.name} killed"] += 1

    async with at_moments(strike, rng, every_s=(1.0, 4.0)) as struck:
        yield struck


@asynccontextmanager
async def _silent(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    proxy = ground.proxies.postgres

    async def strike(struck: Struck) -> None:
        proxy.silence()
        try:
            await asyncio.sleep(rng.uniform(1, 3))
        finally:
            proxy.speak()
        struck["Postgres silent"] += 1

    async with at_moments(strike, rng, every_s=(4, 9)) as struck:
        yield struck


async def _of_limits(ground: ProvingGround, limits: dict[str, int]) -> list[str]:
    """No limit is passed, over all and by member."""
    faults = []
    async with snapshot(ground.pool) as connection:
        for pot, amounts in (await used(connection, OWNER_KIND, sorted(limits), None)).items():
            taken = amounts.cost if pot.owner == "budget" else amounts.runs
            if taken > limits[pot.owner]:
                faults.append(f"{pot.owner} has taken {taken} of {limits[pot.owner]}")
    rows = await slices.rows(ground.pool, (_BY_MEMBER,))
    return faults + [f"{member} has {count} uses of cash" for member, count in map(tuple, rows) if count > _OF_A_MEMBER]


async def _of_sums(ground: ProvingGround) -> list[str]:
    async with snapshot(ground.pool) as connection:
        compared = await compared_offers(connection)
    books = await reward_books(ground.pool)
    return [
        *(f"{each.what}: {each.counted} = {each.against}: {each.other}" for each in compared if each[1] != each[3]),
        *(f"{each.about}: {each.fault}" for each in books.faults),
    ]


async def _of_codes(ground: ProvingGround, told: Told) -> list[str]:
    """Each redemption by a code has one that no other has, and no more are redeemed than callers were told."""
    faults = [f"{count} callers redeemed one code" for count in told.used_codes.values() if count > 1]
    redeemed = {row["reservation_id"] for row in await slices.rows(ground.pool, (_BY_CODE,))}
    codes = {row["reservation_id"] for row in await ground.pool.fetch(_CODES)}
    if len(redeemed) != told.redemptions[CODED]:
        faults.append(f"{len(redeemed)} reservations by a code are redeemed, and {told.redemptions[CODED]} were told")
    if redeemed - codes:
        faults.append(f"{len(redeemed - codes)} reservations are redeemed without a code")
    return faults


async def _of_told(ground: ProvingGround, told: Told) -> list[str]:
    """What callers were told is what is there: each code one caller's, and all points accounted for."""
    faults = []
    if len(set(told.codes)) != len(told.codes):
        faults.append(f"of {len(told.codes)} codes only {len(set(told.codes))} differ")
    if (given := await ground.pool.fetchval(_GIVEN)) != len(told.codes):
        faults.append(f"{given} codes are given, and {len(told.codes)} were told")
    kept = await ground.pool.fetchval(_KEPT)
    due = _POINTS * len({member_of(number) for number in range(CALLERS)})
    due += _BONUS * told.redemptions["bonus"] - _PRICE * kept
    points = tuple(await ground.pool.fetchrow(_ALL_POINTS))
    if points != (due, 0):
        faults.append(f"the callers have {points} points and held points, and {due} are due")
    return faults


TAKING: Final = Scenario(
    "taking",
    f"{CALLERS} callers reserve, redeem and roll back offers, also by single codes and invitations, and"
    " redeem rewards, while the processes that they ask are killed and Postgres is silent",
    _play,
    most=3_000,
    needs=frozenset({Need.PROXIES}),
)
