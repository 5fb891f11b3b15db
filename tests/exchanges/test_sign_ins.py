"""Links by a sign-in at the reference partner, over HTTP, and what is kept of one on a real Postgres."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final, NamedTuple

import asyncpg
import pytest
import structlog

from abacus.core.errors import Refused, Unavailable
from abacus.core.sources import Agent, partner_source
from abacus.exchanges.client_secrets import CLIENT_SECRET, ClientSecrets
from abacus.exchanges.decide.invented_accounts import CLOSED, UNKNOWN
from abacus.exchanges.decide.link import MOST_TRIES, Attempts, Link, LinkFault, LinkRefused, LinkState, LinkWay
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programme_reader import parse_programme
from abacus.exchanges.decide.sign_in import Returned
from abacus.exchanges.link_desk import BegunSignIn, LinkDesk, Wanted, WantedSignIn
from abacus.exchanges.link_store import LINK_SECRETS, Forgetting, forget_links
from abacus.exchanges.partner_sim.sign_in import CLIENT_ID
from abacus.exchanges.sign_ins import SignIns
from abacus.exchanges.types import Account, NotAsked
from abacus.people.store.audit import log
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.postgres import Pool
from abacus.platform.secret_rotation import rewrap
from tests.support.exchanges import NOW, SECRETS, SKYMILES, around, linking
from tests.support.fixed_clock import FixedClock
from tests.support.partner_sim import Partner, partner_sim
from tests.support.ports import free_port
from tests.support.sign_ins import BACK, oauth_part, signed_in

APP: Final = Agent("app", partner_source("app"))
ANN: Final = Agent("person:ann", "person:ann")
WANTED: Final = WantedSignIn("skymiles", BACK)
NUMBER: Final = "SKY 1234 5678"


class House(NamedTuple):
    """A house whose members sign in at a partner that is up."""

    pool: Pool
    clock: FixedClock
    partner: Partner
    sign_ins: SignIns
    secrets: ClientSecrets

    def programme(self, **changed: Any) -> Programme:
        document = {**SKYMILES, "cooling_off": "1d", "oauth": oauth_part(self.partner.url), **changed}
        return parse_programme(document, replace(around(), to_private=True)).numbered(1)

    def desk(self, programme: Programme | None = None, **asked: Any) -> LinkDesk:
        return linking(self.pool, self.clock, programme or self.programme(), sign_in_of=self.sign_ins.port, **asked)


@pytest.fixture
async def house(pool: Pool) -> AsyncIterator[House]:
    secrets = ClientSecrets(pool, SECRETS)
    sign_ins = SignIns(secrets.of, to_private=True)
    async with partner_sim() as partner:
        await secrets.set("skymiles", partner.secret, client(partner), "person:ann", NOW)
        yield House(pool, FixedClock(NOW), partner, sign_ins, secrets)
        await sign_ins.close()


def client(partner: Partner) -> str:
    return f"{CLIENT_ID} at {partner.url}"


def returned(back: Mapping[str, str]) -> Returned:
    return Returned(back["code"], back["state"], back.get("iss"))


async def refused(asked: Awaitable[object]) -> LinkFault:
    with pytest.raises(LinkRefused) as fault:
        await asked
    return fault.value.fault


async def at_the_partner(begun: BegunSignIn, number: str = NUMBER, holder: str = "Bob Tan") -> Returned:
    return returned(await signed_in(begun.authorize_url, number, holder))


async def kept(pool: Pool) -> list[object]:
    return list(await pool.fetchrow("select code_digest, code_until, verifier, redirect_uri from exchange_link"))


async def test_a_sign_in_links_the_account_that_the_partner_tells(house: House) -> None:
    desk = house.desk()
    begun = await desk.begin("bob", WANTED, APP)
    assert (begun.link.state, begun.link.shown, begun.link.way) == (LinkState.ASKED, "…", LinkWay.OAUTH)
    assert begun.link.code_until == NOW + timedelta(minutes=10)
    with structlog.testing.capture_logs() as logged:
        back = await at_the_partner(begun)
        link = await desk.finish(begun.link, back, APP)
    assert (link.link_id, link.shown, link.state_at(NOW)) == (begun.link.link_id, "…5678", LinkState.COOLING)
    assert (link.way, link.usable_from) == (LinkWay.OAUTH, NOW + timedelta(days=1))
    assert await desk.account_of(link.link_id) == Account(NUMBER, "Bob Tan")
    assert await desk.of_number("skymiles", "sky-12345678") == link
    assert await kept(house.pool) == [None] * 4
    row = str(await house.pool.fetchrow("select * from exchange_link")) + str(logged)
    assert not [
        each for each in ("12345678", "Bob Tan", NUMBER, back.code, back.state, house.partner.secret) if each in row
    ]
    assert await desk.finish(link, back, APP) == link, "once is enough"


async def test_until_the_member_comes_back_the_state_is_a_digest_and_the_verifier_encrypted(house: House) -> None:
    begun = await house.desk().begin("bob", WANTED, APP)
    digest, until, verifier, back = await kept(house.pool)
    assert (until, back) == (NOW + timedelta(minutes=10), BACK)
    assert str(verifier).startswith("enc:v1:one:")
    state = begun.authorize_url.partition("state=")[2].partition("&")[0]
    assert len(state) == 43
    assert state.encode() not in bytes(digest)  # type: ignore[call-overload]  # it is bytes
    secret = await house.pool.fetchval("select secret from exchange_client_secret")
    assert secret.startswith("enc:v1:one:")


async def test_a_sign_in_is_used_once(house: House) -> None:
    desk = house.desk()
    begun = await desk.begin("bob", WANTED, APP)
    back = await at_the_partner(begun, CLOSED)
    link = await desk.finish(begun.link, back, APP)
    assert (link.state, link.reason) == (LinkState.REFUSED, "account-closed")
    assert await refused(desk.finish(begun.link, back, APP)) is LinkFault.SIGN_IN_OVER
    assert await refused(desk.finish(link, back, APP)) is LinkFault.NO_LINK
    assert await kept(house.pool) == [None] * 4


async def test_of_two_at_once_one_asks_the_partner(house: House) -> None:
    desk = house.desk()
    begun = await desk.begin("bob", WANTED, APP)
    back = await at_the_partner(begun)
    one, other = await asyncio.gather(*(desk.finish(begun.link, back, APP) for _ in range(2)), return_exceptions=True)
    link, fault = (one, other) if isinstance(other, BaseException) else (other, one)
    assert isinstance(link, Link)
    assert isinstance(fault, LinkRefused)
    assert (link.state, fault.fault) == (LinkState.VERIFIED, LinkFault.SIGN_IN_OVER)


async def test_a_code_that_was_used_elsewhere_is_refused(house: House) -> None:
    desk = house.desk()
    first = await desk.begin("bob", WANTED, APP)
    stolen = await at_the_partner(first)
    await desk.finish(first.link, stolen, APP)
    kims = await desk.begin("kim", WANTED, APP)
    own = await at_the_partner(kims, "99999999")
    link = await desk.finish(kims.link, own._replace(code=stolen.code), APP)
    assert (link.state, link.reason) == (LinkState.REFUSED, "sign-in-refused")


async def test_a_code_of_another_sign_in_does_not_fit_the_verifier(house: House) -> None:
    """Eve puts her code beside Bob's state: the partner compares the challenge, and Bob does not get her account."""
    desk = house.desk()
    bobs, eves = await desk.begin("bob", WANTED, APP), await desk.begin("eve", WANTED, APP)
    own, hers = await at_the_partner(bobs), await at_the_partner(eves, "99999999")
    link = await desk.finish(bobs.link, own._replace(code=hers.code), APP)
    assert (link.state, link.reason) == (LinkState.REFUSED, "sign-in-refused")


async def test_a_state_is_that_of_its_link_and_a_wrong_one_counts(house: House) -> None:
    desk = house.desk()
    bobs, kims = await desk.begin("bob", WANTED, APP), await desk.begin("kim", WANTED, APP)
    own, other = await at_the_partner(bobs), await at_the_partner(kims)
    wrong = (own._replace(state="wrong"), other, own._replace(issuer=None), own._replace(issuer="https://evil.example"))
    for each in wrong:
        assert await refused(desk.finish(bobs.link, each, APP)) is LinkFault.WRONG_SIGN_IN
    assert await refused(desk.verify(bobs.link, "123456", APP)) is LinkFault.CODE_OVER
    assert await refused(desk.verify(bobs.link, None, APP)) is LinkFault.WRONG_SIGN_IN
    assert len(wrong) == MOST_TRIES - 1
    assert (await desk.finish(bobs.link, own, APP)).state is LinkState.VERIFIED, "the code was not used by any of them"
    for _ in range(MOST_TRIES):
        assert await refused(desk.finish(kims.link, own, APP)) is LinkFault.WRONG_SIGN_IN
    assert await refused(desk.finish(kims.link, other, APP)) is LinkFault.SIGN_IN_OVER


async def test_a_sign_in_is_open_for_ten_minutes_and_a_new_one_takes_its_place(house: House) -> None:
    desk = house.desk()
    first = await desk.begin("bob", WANTED, APP)
    back = await at_the_partner(first)
    house.clock.set(NOW + timedelta(minutes=10))
    assert await refused(desk.finish(first.link, back, APP)) is LinkFault.SIGN_IN_OVER
    again = await desk.begin("bob", WANTED, APP)
    ended = await desk.of_id(first.link.link_id)
    assert ended is not None
    assert (ended.state, ended.reason) == (LinkState.ENDED, "asked-anew")
    link = await desk.finish(again.link, await at_the_partner(again), APP)
    assert link.state is LinkState.VERIFIED
    assert await refused(desk.begin("bob", WANTED, APP)) is LinkFault.LINKED_ALREADY


async def test_a_number_belongs_to_one_member(house: House) -> None:
    desk = house.desk()
    bobs = await desk.begin("bob", WANTED, APP)
    await desk.finish(bobs.link, await at_the_partner(bobs), APP)
    kims = await desk.begin("kim", WANTED, APP)
    again = await at_the_partner(kims, "sky12345678")
    assert await refused(desk.finish(kims.link, again, APP)) is LinkFault.NUMBER_LINKED
    left = await desk.of_id(kims.link.link_id)
    assert left is not None
    assert (left.shown, left.verified_at) == ("…", None), "kim is not told whose it is, nor is the number kept"
    number = "select number from exchange_link where link_id = $1"
    assert await house.pool.fetchval(number, left.link_id) is None


async def test_the_partner_refuses_and_the_member_may_begin_again(house: House) -> None:
    desk = house.desk()
    for number, reason in ((CLOSED, "account-closed"), (UNKNOWN, "account-unknown")):
        begun = await desk.begin("bob", WANTED, APP)
        link = await desk.finish(begun.link, await at_the_partner(begun, number), APP)
        assert (link.state, link.reason, link.way) == (LinkState.REFUSED, reason, LinkWay.OAUTH)


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ({"fails": 1}, "answered a code with 503"),
        ({"garbled": 1}, "no JSON"),
        ({"cuts": 1}, "connection was cut"),
    ],
    ids=str,
)
async def test_a_partner_that_answers_nothing_of_use_may_have_used_the_code(
    house: House, behaviour: Mapping[str, Any], why: str
) -> None:
    desk = house.desk()
    begun = await desk.begin("bob", WANTED, APP)
    back = await at_the_partner(begun)
    await house.partner.behaves(**behaviour)
    with pytest.raises(Unavailable, match=f"skyline unavailable: .*{why}.*begin again"):
        await desk.finish(begun.link, back, APP)
    await house.partner.behaves()
    assert await refused(desk.finish(begun.link, back, APP)) is LinkFault.SIGN_IN_OVER
    again = await desk.begin("bob", WANTED, APP)
    assert (await desk.finish(again.link, await at_the_partner(again), APP)).state is LinkState.VERIFIED


async def test_a_partner_that_is_silent_is_waited_for_as_long_as_is_allowed(house: House) -> None:
    impatient = SignIns(house.secrets.of, to_private=True, within_s=0.05)
    desk = linking(house.pool, house.clock, house.programme(), sign_in_of=impatient.port)
    begun = await desk.begin("bob", WANTED, APP)
    back = await at_the_partner(begun)
    await house.partner.behaves(silent=1)
    with pytest.raises(Unavailable, match=r"no answer within 0\.05 s; .*begin again"):
        await desk.finish(begun.link, back, APP)
    assert await refused(desk.finish(begun.link, back, APP)) is LinkFault.SIGN_IN_OVER
    await impatient.close()


async def test_a_partner_that_takes_the_code_and_tells_no_account(house: House) -> None:
    async with partner_sim() as other:
        at_another = oauth_part(house.partner.url, account_url=f"{other.url}/oauth/account")
        desk = house.desk(house.programme(oauth=at_another))
        begun = await desk.begin("bob", WANTED, APP)
        with pytest.raises(Unavailable, match=r"answered a token with 401; .*begin again"):
            await desk.finish(begun.link, await at_the_partner(begun), APP)
    found = await desk.of_id(begun.link.link_id)
    assert found is not None
    assert found.state is LinkState.ASKED


async def test_where_nobody_is_there_the_same_may_be_tried_again(house: House) -> None:
    away = oauth_part(house.partner.url, token_url=f"http://127.0.0.1:{free_port()}/token")
    sign_ins = SignIns(lambda name, _: house.secrets.of(name, client(house.partner)), to_private=True)
    desk = linking(house.pool, house.clock, house.programme(oauth=away), sign_in_of=sign_ins.port)
    begun = await desk.begin("bob", WANTED, APP)
    back = await at_the_partner(begun)
    for _ in range(2):
        with pytest.raises(NotAsked):
            await desk.finish(begun.link, back, APP)
    await sign_ins.close()
    assert (await house.desk().finish(begun.link, back, APP)).state is LinkState.VERIFIED


async def test_what_was_ended_meanwhile_stays_so(house: House) -> None:
    desk = house.desk()
    begun = await desk.begin("bob", WANTED, APP)
    back = await at_the_partner(begun)
    await desk.unlink(begun.link, APP)
    assert await kept(house.pool) == [None] * 4
    assert await refused(desk.finish(begun.link, back, APP)) is LinkFault.SIGN_IN_OVER


async def test_without_the_clients_secret_nobody_is_sent_to_the_partner(house: House) -> None:
    sign_ins = SignIns(lambda _, client: house.secrets.of("bankpoints", client), to_private=True)
    with pytest.raises(Unavailable, match="the client's secret of bankpoints was never set"):
        await linking(house.pool, house.clock, house.programme(), sign_in_of=sign_ins.port).begin("bob", WANTED, APP)
    assert await house.pool.fetchval("select count(*) from exchange_link") == 0
    await house.secrets.set("skymiles", "another secret", client(house.partner), "person:ann", NOW)
    begun = await house.desk().begin("bob", WANTED, APP)
    with pytest.raises(Unavailable, match=r"answered a code with 401 invalid_client; .*begin again"):
        await house.desk().finish(begun.link, await at_the_partner(begun), APP)


async def test_who_may_be_sent_where(house: House) -> None:
    desk = house.desk()
    other = WANTED._replace(redirect_uri="https://evil.example/")
    assert await refused(desk.begin("bob", other, APP)) is LinkFault.NO_REDIRECT
    none = house.programme()
    without = house.desk(parse_programme(SKYMILES, around()).numbered(1))
    assert none.sign_in is not None
    assert await refused(without.begin("bob", WANTED, APP)) is LinkFault.NO_SIGN_IN
    begun = await desk.begin("bob", WANTED._replace(redirect_uri="com.example.app:/linked"), APP)
    assert await refused(without.finish(begun.link, await at_the_partner(begun), APP)) is LinkFault.NO_SIGN_IN
    by_number = await desk.ask("kim", Wanted("skymiles", Account(NUMBER)), APP)
    assert await refused(desk.finish(by_number, Returned("c", "s"), APP)) is LinkFault.SIGN_IN_OVER


async def test_attempts_are_limited(house: House) -> None:
    desk = house.desk(attempts=Attempts(member=2))
    begun = await desk.begin("bob", WANTED, APP)
    assert await refused(desk.finish(begun.link, Returned("c", "s"), APP)) is LinkFault.WRONG_SIGN_IN
    assert await refused(desk.begin("bob", WANTED, APP)) is LinkFault.TOO_MANY_ATTEMPTS
    assert await refused(desk.finish(begun.link, Returned("c", "s"), APP)) is LinkFault.TOO_MANY_ATTEMPTS


async def test_no_attempt_is_spent_where_the_partner_is_not_asked(house: House) -> None:
    no_secret = SignIns(lambda _, client: house.secrets.of("bankpoints", client), to_private=True)
    attempts = Attempts(member=2)
    without = linking(house.pool, house.clock, house.programme(), sign_in_of=no_secret.port, attempts=attempts)
    for _ in range(3):
        with pytest.raises(Unavailable, match="was never set"):
            await without.begin("bob", WANTED, APP)
    begun = await house.desk(attempts=attempts).begin("bob", WANTED, APP)
    back = await at_the_partner(begun)
    for _ in range(3):
        with pytest.raises(NotAsked):
            await without.finish(begun.link, back, APP)
    assert await house.pool.fetchval("select attempts from exchange_link_attempt") == 1
    assert await refused(without.finish(begun.link, back._replace(state="s"), APP)) is LinkFault.WRONG_SIGN_IN
    assert await refused(without.finish(begun.link, back, APP)) is LinkFault.TOO_MANY_ATTEMPTS


async def test_of_many_at_once_no_more_are_let_through_than_attempts_are_left(house: House) -> None:
    no_secret = SignIns(lambda _, client: house.secrets.of("bankpoints", client), to_private=True)
    desk = linking(house.pool, house.clock, house.programme(), sign_in_of=no_secret.port, attempts=Attempts(member=3))
    begun = await house.desk().begin("bob", WANTED, APP)
    wrong = Returned("c", "s")
    came = await asyncio.gather(*(desk.finish(begun.link, wrong, APP) for _ in range(6)), return_exceptions=True)
    faults = [each.fault for each in came if isinstance(each, LinkRefused)]
    assert sorted(faults) == [LinkFault.TOO_MANY_ATTEMPTS] * 4 + [LinkFault.WRONG_SIGN_IN] * 2


async def test_what_people_do_is_in_the_log(house: House) -> None:
    desk = house.desk()
    begun = await desk.begin("bob", WANTED, ANN)
    await desk.finish(begun.link, await at_the_partner(begun), ANN)
    assert sorted(json.loads(each.details)["did"] for each in await log(house.pool)) == ["link", "verify-link"]


async def test_erasure_ends_a_sign_in_and_empties_what_is_kept(house: House, database_url: str) -> None:
    desk = house.desk()
    begun = await desk.begin("bob", WANTED, APP)
    back = await at_the_partner(begun)
    owner = await asyncpg.connect(database_url)
    try:
        await forget_links(owner, Forgetting("bob", "erased-1", "erased"))
    finally:
        await owner.close()
    assert await kept(house.pool) == [None] * 4
    assert await refused(desk.finish(begun.link, back, APP)) is LinkFault.SIGN_IN_OVER
    (link,) = await desk.of_member("erased-1")
    assert (link.state, link.shown) == (LinkState.ENDED, "erased")


async def test_secrets_are_read_after_their_key_has_changed(house: House) -> None:
    old, new = new_keyring_text("old"), new_keyring_text("new")
    await ClientSecrets(house.pool, Secrets.of(old)).set(
        "skymiles", house.partner.secret, client(house.partner), "person:ann", NOW
    )
    by_old = linking(
        house.pool,
        house.clock,
        house.programme(),
        secrets=Secrets.of(old),
        sign_in_of=SignIns(ClientSecrets(house.pool, Secrets.of(old)).of, to_private=True).port,
    )
    begun = await by_old.begin("bob", WANTED, APP)
    assert await rewrap(house.pool, Secrets.of(f"{new},{old}"), (*LINK_SECRETS, CLIENT_SECRET)) == (3, 0, [])
    after = SignIns(ClientSecrets(house.pool, Secrets.of(new)).of, to_private=True)
    by_new = linking(house.pool, house.clock, house.programme(), secrets=Secrets.of(new), sign_in_of=after.port)
    assert (await by_new.finish(begun.link, await at_the_partner(begun), APP)).state is LinkState.VERIFIED
    await after.close()


async def test_a_secret_is_told_to_no_other_server_than_its_own(house: House) -> None:
    """A version of the programme may name another one."""
    async with partner_sim() as another:
        for changed in ({"token_url": f"{another.url}/oauth/token"}, {"client_id": "another"}):
            moved = house.programme(oauth=oauth_part(house.partner.url, **changed))
            with pytest.raises(Unavailable, match=f"secret of skymiles is of {client(house.partner)}; set it anew"):
                await house.desk(moved).begin("bob", WANTED, APP)


async def test_a_secret_is_one_line_and_never_stored_as_it_is(house: House) -> None:
    for text in ("", "two\nlines", "ä", "x" * 1001):
        with pytest.raises(Refused, match="one line"):
            await house.secrets.set("skymiles", text, "a", "person:ann", NOW)
    with pytest.raises(Refused, match="ABACUS_SECRETS_KEY is not set"):
        await ClientSecrets(house.pool, Secrets.of(None)).set("skymiles", "secret", "a", "person:ann", NOW)


async def test_a_new_version_of_the_programme_is_asked_at_its_own_addresses(house: House) -> None:
    first = await house.desk().begin("bob", WANTED, APP)
    back = await at_the_partner(first)
    moved = house.programme(oauth=oauth_part(house.partner.url, scope="account"))
    assert (await house.desk(moved).finish(first.link, back, APP)).state is LinkState.VERIFIED
