"""Points are exchanged with a partner both ways, while both houses' processes die, hang and lose each other's answers:
each point is in one place at the end, id by id, in two ledgers that share nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from random import Random
from typing import Any, Final, NamedTuple

import httpx

from abacus.core.clock import SystemClock
from abacus.core.sources import Agent
from abacus.exchanges.decide.exchange import UNSETTLED, Exchange, State
from abacus.exchanges.exchange_rows import exchange_of
from abacus.exchanges.link_desk import Wanted
from abacus.exchanges.types import Account
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.oversight.reconcile.exchanges import exchange_books
from abacus.platform import slices
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.sql import columns
from tests.reliability.chaos.crew import Worker
from tests.reliability.chaos.exchanged import Ended, Member, faults_of_exchanges
from tests.reliability.chaos.faults.fault import Struck, at_moments
from tests.reliability.chaos.ground import READY_WITHIN_S, ProvingGround
from tests.reliability.chaos.judge import few
from tests.reliability.chaos.needs import Need
from tests.reliability.chaos.proxies.doubling import doubled
from tests.reliability.chaos.proxies.postgres import PostgresFaults
from tests.reliability.chaos.scenarios.exchangers import Exchanged, Operator, exchange_in, exchange_out
from tests.reliability.chaos.scenarios.scenario import Scenario, Stage
from tests.support.exchange_house import prefund
from tests.support.exchanges import SKYMILES, AskedPartner, agree_on_programme, linking
from tests.support.patient import PatientCaller
from tests.support.ports import free_ports
from tests.support.shop import new_partner

CALLERS: Final = 16  # of each house, at least; more where more is asked for
_MOST_CALLERS: Final = 64
_OF_A_CALLER: Final = 60  # exchanges, before there is another one
_MEMBERS: Final = 40
_REFUSED: Final = 4  # of the members, whose accounts there take nothing
_POINTS: Final = 5_000_000
_MILES: Final = 5_000_000
_PREFUND: Final = Decimal(100_000_000)
_OF_A_MESSAGE: Final = 5  # messages of the plan for each exchange
_DOUBLED: Final = 0.1
_LATE_S: Final = 6.0
_OPEN_NUMBERS: Final = "2"  # how the numbers of the others begin
_KILLED: Final = 0.4  # of the strikes; then those that stop a process, cut Postgres off, and silence it
_STOPPED: Final = 0.7
_CUT: Final = 0.85
# The most of each misbehaviour.
_WORST: Final = {
    "fails": 0.2,
    "fails_after": 0.2,
    "cuts": 0.3,
    "silent": 0.02,
    "slow": 0.5,
    "delay": 0.3,
    "duplicates": 0.5,
    "bad_signature": 0.1,
}
_TIMES: Final = {"reverses_for": "30d", "late_after": "10m", "cancel_after": "10m"}
_READY_WITHIN_S: Final = 60.0
_ENDED_WITHIN_S: Final = 180.0
_ROWS: Final = f"select {columns(Exchange)} from exchange"
_ACCOUNTS: Final = "select member_id, balance, held from account where starts_with(member_id, 'flyer-')"
_OPEN: Final = f"""
select count(*) from exchange where state in ({", ".join(f"'{each}'" for each in (*UNSETTLED, State.RESERVED))})
"""
_TOO_LONG: Final = """
update exchange set sent_at = sent_at - interval '1 day', due_at = now()
where exchange_id in (
    select exchange_id from exchange where state in ('sent', 'unknown') limit 2 for update skip locked
) returning exchange_id
"""
# What was left with a lease by a process that died, or is to be asked again later, is due.
_TIME_PASSES: Final = "update exchange set due_at = now() where due_at > now() and state <> 'reserved'"


class _Both(NamedTuple):
    """The two houses."""

    stage: Stage
    members: Sequence[Member]
    ports: Sequence[int]  # of the API
    key: str
    operator: Operator


async def _play(stage: Stage, rng: Random) -> None:
    ground, crew = stage.ground, stage.ground.crew
    secret, keyring = new_secret(), new_keyring_text("one")
    key = await new_partner(ground.pool, "travels")
    theirs = await new_partner(ground.pool, "skyline", may_exchange=True, may_spend=False)
    await WebhookStore(ground.pool, SystemClock(), Secrets.of(keyring)).set(
        "skyline", "https://skyline.example/hooks", secret
    )
    members = _members()
    ports, [sim_port] = free_ports(2), free_ports(1)
    sim_url, urls = f"http://127.0.0.1:{sim_port}", [f"http://127.0.0.1:{port}" for port in ports]
    async with AsyncExitStack() as stack:
        line = await stack.enter_async_context(doubled([sim_url], rng, share=_DOUBLED, late_s=_LATE_S))
        back = await stack.enter_async_context(doubled(urls, rng, share=_DOUBLED, late_s=_LATE_S))
        operator = Operator(sim_url)
        stack.push_async_callback(operator.close)
        programme = {**SKYMILES, **_TIMES, "carrier": {"url": line.url}}
        in_force = await agree_on_programme(ground.pool, programme)
        await prefund(ground.pool, "skymiles", _PREFUND)
        links = linking(ground.pool, SystemClock(), in_force, partner=AskedPartner(), secrets=Secrets.of(keyring))
        agent = Agent("travels", "partner:travels")
        for each in members:
            link = await links.ask(each.member_id, Wanted("skymiles", Account(each.number)), agent)
            await links.verify(link, None, agent)
        told = {"ABACUS_SECRETS_KEY": keyring, "ABACUS_WEBHOOKS_TO_PRIVATE": "1"}
        partner = crew.hire(
            "partner-sim",
            arguments=(
                *("exchanges", "partner-sim", "--port", str(sim_port), "--key", secret),
                *("--ledger", str(ground.logs / "partner.sqlite"), "--house", back.url, "--house-key", theirs),
                *("--callbacks", f"{back.url}/v1/exchange-callbacks/skymiles"),
            ),
        )
        apis = [crew.hire("api", told={**told, "ABACUS_API_PORT": str(port)}) for port in ports]
        exchangers = [crew.hire("exchanger", told=told) for _ in range(2)]
        await crew.ready(READY_WITHIN_S)
        both, told_of = _Both(stage, members, ports, key, operator), Exchanged()
        await _give(both)
        async with (
            _struck(ground, apis, exchangers, partner, rng) as struck,
            _misbehaving(ground, operator, rng) as misbehaved,
        ):
            await _ask(both, told_of, rng)
            stage.seen.update(struck + misbehaved)
        await operator.ask("PUT", "/_behave", {})
        await asyncio.gather(line.all_arrived(), back.all_arrived())
        await _come_to_rest(both)
        stage.seen.update(line.struck + back.struck + ground.proxies.postgres.struck + told_of.outcomes)
        await _judge(both, told_of)


async def _give(both: _Both) -> None:
    """What everybody has at first."""
    stage, members, ports, key, operator = both
    async with PatientCaller(ports, key) as caller:
        for each in members:
            body = {"member_id": each.member_id, "country": "SG", "points": each.points, "reason": "Welcome"}
            answer = await caller.post("awards", each.member_id, body)
            stage.hold(f"{each.member_id} gets points, not {answer.status_code} {answer.text}", if_=answer.is_success)
            await operator.ask("POST", "/_earn", {"number": each.number, "points": each.miles})
        asked = {"member_id": members[0].member_id, "programme": "skymiles", "points": 1000}

        async def is_ready() -> bool:
            rows = await slices.rows(stage.ground.pool, (_ACCOUNTS,))
            if len(rows) < len(members):
                return False
            quotes = [await caller.post("exchange-quotes", "", asked) for _ in ports]
            return all(each.status_code == httpx.codes.CREATED for each in quotes)

        await stage.until("all members have points, and the programme is in force", is_ready, _READY_WITHIN_S)


async def _ask(both: _Both, told: Exchanged, rng: Random) -> None:
    """As many go out as come in."""
    plan = both.stage.plan
    each_way = max(CALLERS, plan.messages // _OF_A_MESSAGE // 2)
    callers = min(_MOST_CALLERS, max(CALLERS, each_way // _OF_A_CALLER))
    asked = [(f"{plan.seed}-{number}", rng.choice(both.members)) for number in range(each_way)]
    takers = [member for member in both.members if member.number.startswith(_OPEN_NUMBERS)]
    sent = [(f"T-{plan.seed}-{number}", rng.choice(takers)) for number in range(each_way)]
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        for place in range(callers):
            caller = await stack.enter_async_context(PatientCaller(both.ports, both.key))
            group.create_task(_going_out(caller, asked[place::callers], told, Random(rng.random())))
            group.create_task(exchange_in(both.operator, sent[place::callers], told, Random(rng.random())))
    told.outcomes["exchanges asked for"] = 2 * each_way


async def _going_out(caller: PatientCaller, asked: Sequence[tuple[str, Member]], told: Exchanged, rng: Random) -> None:
    await exchange_out(caller, asked, told, rng)
    told.outcomes["asked again"] += caller.repeated


@asynccontextmanager
async def _struck(
    ground: ProvingGround, apis: Sequence[Worker], exchangers: Sequence[Worker], partner: Worker, rng: Random
) -> AsyncIterator[Struck]:
    """Processes are killed, while most of them are ready, or stopped for a while, and Postgres is cut off or silent:
    where processes take long to start, nothing would ever come to an end else.
    """
    victims, postgres = [*exchangers, *exchangers, partner, *apis], ground.proxies.postgres

    async def strike(struck: Struck) -> None:
        chance, victim = rng.random(), rng.choice(victims)
        if chance < _KILLED:
            if sum(each.ready for each in set(victims)) >= len(set(victims)) - 1 and victim.kill():
                struck[f"{victim.name} killed"] += 1
        elif chance < _STOPPED:
            if victim.freeze():
                await asyncio.sleep(rng.uniform(0.3, 2))
                victim.thaw()
                struck[f"{victim.name} stopped"] += 1
        elif chance < _CUT:
            postgres.cut_all()
        else:
            postgres.silence()
            await asyncio.sleep(rng.uniform(0.3, 1.5))
            postgres.speak()
            struck["Postgres silent"] += 1

    postgres.faults = PostgresFaults(cut=0.002, unknown_commit=0.01)
    try:
        async with at_moments(strike, rng, every_s=(0.3, 1.5)) as struck:
            yield struck
    finally:
        postgres.faults = PostgresFaults()


@asynccontextmanager
async def _misbehaving(ground: ProvingGround, operator: Operator, rng: Random) -> AsyncIterator[Struck]:
    """The partner forgets with its process how it misbehaves, so it is told again and again. It takes too long for some
    exchanges, which the house cancels then.
    """

    async def strike(struck: Struck) -> None:
        behaviour = {name: rng.uniform(0, most) for name, most in _WORST.items()}
        await operator.ask("PUT", "/_behave", {**behaviour, "seed": rng.randrange(1000), "slow_s": 0.5, "delay_s": 0.5})
        struck["changes of the partner's behaviour"] += 1
        struck["late for good"] += len(await ground.pool.fetch(_TOO_LONG))

    async with at_moments(strike, rng, every_s=(0.2, 0.8)) as struck:
        yield struck


async def _come_to_rest(both: _Both) -> None:
    """Hours pass: what was left with a lease, or is asked again later, is due."""

    async def all_ended() -> bool:
        ledger = (await both.operator.ask("GET", "/_ledger")).json()
        going = [each for each in ledger["sent"] if each["state"] not in {"captured", "released"}]
        left = await both.stage.ground.pool.fetchval(_OPEN)
        await both.stage.ground.pool.execute(_TIME_PASSES)
        return not going and not left and not ledger["callbacks"]

    await both.stage.until("every exchange has ended on both sides", all_ended, _ENDED_WITHIN_S)


async def _judge(both: _Both, told: Exchanged) -> None:
    stage, members, _, _, operator = both
    pool = stage.ground.pool
    exchanges = [exchange_of(row) for row in await pool.fetch(_ROWS)]
    accounts = {row[0]: (row[1], row[2]) for row in await slices.rows(pool, (_ACCOUNTS,))}
    theirs: dict[str, Any] = (await operator.ask("GET", "/_ledger")).json()
    books = await exchange_books(pool)
    stage.faults += [
        *told.faults,
        *few("exchanged", list(faults_of_exchanges(members, Ended(exchanges, accounts, theirs)))),
        *few("books of exchanges", [f"{each.about}: {each.fault}" for each in books.faults]),
    ]
    there = {str(each.exchange_id) for each in exchanges}
    stage.hold("every exchange that a caller was told of is there", if_=there >= set(told.held))
    states = Counter(f"{each.direction} {each.state}" for each in exchanges if each.state is not State.QUOTED)
    stage.seen.update(states)


def _members() -> list[Member]:
    refused = ["000000001", "000000002", "000000005", "000000006"]
    numbers = [*refused, *(f"2{number:08}" for number in range(_MEMBERS - _REFUSED))]
    return [Member(f"flyer-{place}", number, _POINTS, _MILES) for place, number in enumerate(numbers)]


EXCHANGES: Final = Scenario(
    "exchanges",
    f"{CALLERS} callers of each house exchange points with the other one, while exchangers, API and the partner are"
    " killed and stopped, its answers are cut, late, slow, refusals or errors, messages come twice and late, and"
    " Postgres is cut off and silent: each point is in one place, id by id on both sides",
    _play,
    most=50_000,
    needs=frozenset({Need.PROXIES}),
)
