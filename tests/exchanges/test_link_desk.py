"""Links on a real Postgres: asked for, verified, used, ended and forgotten."""

import json
from collections.abc import Awaitable
from datetime import timedelta
from typing import Final

import asyncpg
import pytest

from abacus.core.errors import Unavailable
from abacus.core.sources import Agent, partner_source
from abacus.exchanges.decide.link import MOST_TRIES, Attempts, LinkFault, LinkRefused, LinkState
from abacus.exchanges.link_desk import Wanted
from abacus.exchanges.link_store import LINK_SECRETS, Forgetting, LinkStore, forget_links
from abacus.exchanges.types import Account, Match
from abacus.people.store.audit import log
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.postgres import Pool
from abacus.platform.secret_rotation import rewrap
from tests.support.exchanges import NOW, AskedPartner, Told, linking, programme
from tests.support.fixed_clock import FixedClock

APP: Final = Agent("app", partner_source("app"))
ANN: Final = Agent("person:ann", "person:ann")
ACCOUNT: Final = Account("SKY 1234 5678", "Bob Tan")
WITH_CODE: Final = Wanted("skymiles", ACCOUNT, sends_code=True)
BY_PARTNER: Final = Wanted("skymiles", ACCOUNT)


async def refused(asked: Awaitable[object]) -> LinkFault:
    with pytest.raises(LinkRefused) as fault:
        await asked
    return fault.value.fault


async def test_a_code_verifies_and_the_link_cools_off_before_it_is_used(pool: Pool) -> None:
    clock, told = FixedClock(NOW), Told()
    desk = linking(pool, clock, programme(cooling_off="7d"), told=told)
    assert await refused(desk.usable("bob", "skymiles")) is LinkFault.NO_LINK
    link = await desk.ask("bob", WITH_CODE, APP)
    assert (link.state, link.shown, link.asked_by) == (LinkState.ASKED, "…5678", "partner:app")
    assert await refused(desk.usable("bob", "skymiles")) is LinkFault.NOT_VERIFIED
    verified = await desk.verify(link, told.code, APP)
    assert verified.state_at(NOW) is LinkState.COOLING
    assert await desk.verify(verified, "000000", APP) == verified, "once is enough"
    assert await refused(desk.usable("bob", "skymiles")) is LinkFault.COOLING_OFF
    clock.set(NOW + timedelta(days=7))
    assert await desk.usable("bob", "skymiles") == verified
    assert await desk.account_of(link.link_id) == ACCOUNT
    assert await desk.of_number("skymiles", "sky-12345678") == verified


async def test_a_number_may_look_like_the_id_of_a_link(pool: Pool) -> None:
    desk = linking(pool, FixedClock(NOW), programme(), partner=AskedPartner())
    for number in ("12345678123456781234567812345678", "12345678-1234-5678-1234-567812345679"):
        link = await desk.ask(number, Wanted("skymiles", Account(number)), APP)
        verified = await desk.verify(link, None, APP)
        assert await desk.of_number("skymiles", number) == verified
        assert await desk.of_number("skymiles", str(link.link_id)) == verified
    assert await desk.of_number("skymiles", "12345678-1234-5678-1234-567812345670") is None


async def test_what_lies_in_the_database_names_no_number(pool: Pool) -> None:
    await linking(pool, FixedClock(NOW), programme()).ask("bob", WITH_CODE, APP)
    row = str(await pool.fetchrow("select * from exchange_link"))
    assert not [each for each in (ACCOUNT.number, "12345678", "Bob Tan", ACCOUNT.number.encode().hex()) if each in row]


async def test_a_code_is_tried_a_few_times_and_holds_for_minutes(pool: Pool) -> None:
    clock, told = FixedClock(NOW), Told()
    desk = linking(pool, clock, programme(), told=told)
    link = await desk.ask("bob", WITH_CODE, APP)
    wrong = f"{(int(told.code) + 1) % 10**6:06}"
    for _ in range(MOST_TRIES):
        assert await refused(desk.verify(link, wrong, APP)) is LinkFault.WRONG_CODE
    assert await refused(desk.verify(link, told.code, APP)) is LinkFault.CODE_OVER
    again, first = await desk.ask("bob", WITH_CODE, APP), told.notices[0]
    assert (again.link_id != link.link_id, told.notices[-1].event_id != first.event_id) == (True, True)
    clock.set(NOW + timedelta(minutes=10))
    assert await refused(desk.verify(again, told.code, APP)) is LinkFault.CODE_OVER
    without = await desk.ask("bob", BY_PARTNER, APP)
    assert await refused(desk.verify(without, told.code, APP)) is LinkFault.CODE_OVER


@pytest.mark.parametrize(
    ("says", "reason"),
    [(Match.NEAR, "name-near"), (Match.NONE, "account-unknown"), (Match.CLOSED, "account-closed")],
)
async def test_the_partner_refuses_and_the_member_may_ask_anew(pool: Pool, says: Match, reason: str) -> None:
    partner = AskedPartner(says)
    desk = linking(pool, FixedClock(NOW), programme(), partner=partner)
    link = await desk.verify(await desk.ask("bob", BY_PARTNER, APP), None, APP)
    assert (link.state, link.reason, partner.asked) == (LinkState.REFUSED, reason, [ACCOUNT])
    assert await refused(desk.verify(link, None, APP)) is LinkFault.NO_LINK
    partner.says = Match.MATCH
    linked = await desk.verify(await desk.ask("bob", BY_PARTNER, APP), None, APP)
    assert linked.state is LinkState.VERIFIED
    assert [each.state for each in await desk.of_member("bob")].count(LinkState.REFUSED) == 1


async def test_a_partner_of_files_is_not_asked(pool: Pool) -> None:
    by_files = {"place": "/srv/skyline", "cut_off": "18:00"}
    desk = linking(pool, FixedClock(NOW), programme(carrier=by_files))
    link = await desk.ask("bob", BY_PARTNER, APP)
    assert await refused(desk.verify(link, None, APP)) is LinkFault.NOT_ASKABLE


async def test_a_number_belongs_to_one_member_and_a_member_has_one_number(pool: Pool) -> None:
    partner, clock = AskedPartner(), FixedClock(NOW)
    desk = linking(pool, clock, programme(), programme(name="bankpoints"), partner=partner)
    early = await desk.ask("eve", BY_PARTNER, APP)  # asks for it before it is anybody's
    bobs = await desk.verify(await desk.ask("bob", BY_PARTNER, APP), None, APP)
    assert await desk.ask("bob", WITH_CODE, APP) == bobs, "it is linked already"
    assert await refused(desk.ask("kim", BY_PARTNER, APP)) is LinkFault.NUMBER_LINKED
    assert await refused(desk.verify(early, None, APP)) is LinkFault.NUMBER_LINKED
    other = Wanted("skymiles", Account("SKY99999999"))
    assert await refused(desk.ask("bob", other, APP)) is LinkFault.LINKED_ALREADY
    elsewhere = await desk.ask("kim", Wanted("bankpoints", ACCOUNT), APP)
    assert (await desk.verify(elsewhere, None, APP)).state is LinkState.VERIFIED
    await desk.unlink(bobs, APP)
    assert await refused(desk.usable("bob", "skymiles")) is LinkFault.NO_LINK
    assert await desk.account_of(bobs.link_id) == ACCOUNT, "exchanges that are open go on"
    assert (await desk.verify(await desk.ask("kim", BY_PARTNER, APP), None, APP)).state is LinkState.VERIFIED


async def test_attempts_are_limited_by_member_and_by_number(pool: Pool) -> None:
    clock = FixedClock(NOW)
    desk = linking(pool, clock, programme(), partner=AskedPartner(Match.NONE), attempts=Attempts(member=4, number=2))
    for _ in range(2):
        await desk.verify(await desk.ask("bob", BY_PARTNER, APP), None, APP)
    assert await refused(desk.ask("bob", Wanted("skymiles", Account("OTHER1")), APP)) is LinkFault.TOO_MANY_ATTEMPTS
    assert await refused(desk.ask("kim", BY_PARTNER, APP)) is LinkFault.TOO_MANY_ATTEMPTS
    clock.set(NOW + timedelta(days=2))
    assert (await desk.ask("kim", BY_PARTNER, APP)).state is LinkState.ASKED
    assert await pool.fetchval("select count(*) from exchange_link_attempt") == 2, "older days are forgotten"


async def test_no_link_is_made_at_a_programme_that_is_not_there(pool: Pool) -> None:
    desk = linking(pool, FixedClock(NOW - timedelta(days=50)), programme())
    for name in ("skymiles", "nothing"):
        assert await refused(desk.ask("bob", Wanted(name, ACCOUNT), APP)) is LinkFault.NO_PROGRAMME


async def test_what_people_do_is_in_the_log_and_what_callers_do_is_not(pool: Pool) -> None:
    desk = linking(pool, FixedClock(NOW), programme(), partner=AskedPartner())
    link = await desk.verify(await desk.ask("bob", BY_PARTNER, ANN), None, ANN)
    await desk.unlink(link, ANN, "the member asked")
    await desk.unlink(link, ANN, "again")
    await desk.ask("bob", BY_PARTNER, APP)
    found = [(each.subject, json.loads(each.details)["did"]) for each in await log(pool)]
    assert sorted(found) == [("member:bob", did) for did in ("link", "unlink", "verify-link")]


async def test_an_erased_member_has_no_number_and_it_may_be_linked_again(pool: Pool, database_url: str) -> None:
    desk = linking(pool, FixedClock(NOW), programme(), partner=AskedPartner())
    link = await desk.verify(await desk.ask("bob", BY_PARTNER, APP), None, APP)
    owner = await asyncpg.connect(database_url)
    try:
        assert await forget_links(owner, Forgetting("bob", "erased-1", "erased")) == (1, 2)
    finally:
        await owner.close()
    assert [each[3:6] for each in await desk.of_member("erased-1")] == [("erased-1", "erased", LinkState.ENDED)]
    kept = "select count(number) + count(holder) + count(digest) from exchange_link"
    assert await pool.fetchval(kept) == await pool.fetchval("select count(*) from exchange_link_attempt") == 0
    afterwards = linking(pool, FixedClock(NOW), programme(), partner=AskedPartner())
    assert await refused(afterwards.account_of(link.link_id)) is LinkFault.NO_LINK
    again = await afterwards.verify(await afterwards.ask("kim", BY_PARTNER, APP), None, APP)
    assert again.state is LinkState.VERIFIED


async def test_numbers_are_found_and_read_after_the_key_of_secrets_has_changed(pool: Pool) -> None:
    old, new = new_keyring_text("old"), new_keyring_text("new")
    desk = linking(pool, FixedClock(NOW), programme(), partner=AskedPartner(), secrets=Secrets.of(old))
    link = await desk.verify(await desk.ask("bob", BY_PARTNER, APP), None, APP)
    both = Secrets.of(f"{new},{old}")
    assert await rewrap(pool, both, LINK_SECRETS) == (3, 0, [])
    after = LinkStore(pool, Secrets.of(new))
    assert (await after.accounts([link.link_id]))[link.link_id] == ACCOUNT
    assert await after.of_number("skymiles", ACCOUNT.number) == link


async def test_a_house_without_a_key_for_its_secrets_links_nothing(pool: Pool) -> None:
    with pytest.raises(Unavailable, match="ABACUS_SECRETS_KEY is not set"):
        await LinkStore(pool, Secrets.of(None)).key()
