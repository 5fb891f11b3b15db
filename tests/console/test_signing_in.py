"""Signing in and out: who is let in, by which way, and what becomes of the session."""

import time
from datetime import timedelta

import pytest

from abacus.console.entry.decide.browser import network_of
from abacus.console.entry.decide.codes import bytes_of, code_at
from abacus.console.entry.door import Attempts
from abacus.people.decide.names import parse_grants
from abacus.people.store.audit import log
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role
from abacus.platform.postgres import Pool, nothing_else
from tests.console.desk import PASSWORD, desk
from tests.support.staff import ADMIN, MACHINE

WRONG = "That does not fit."


async def test_a_person_signs_in_and_out(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "viewer")
        ann = await open_desk.browser()
        asked = await ann.see("/approvals?status=done")
        assert (asked.status_code, asked.headers["location"]) == (303, "/sign-in?next=/approvals%3Fstatus%3Ddone")
        entered = await ann.sign_in("ann", next_="/approvals%3Fstatus%3Ddone")
        assert (entered.status_code, entered.headers["location"]) == (303, "/approvals?status=done")
        assert (await ann.see("/")).status_code == 200
        kept = dict(ann.client.cookies)
        left = await ann.send("/me", "/sign-out")
        assert (left.status_code, left.headers["location"]) == (303, "/sign-in?why=out")
        ann.client.cookies.update(kept)
        assert (await ann.see("/")).status_code == 303  # the session itself has ended
        entries = await log(pool, deed=Deed.SIGN_IN)
        assert [each.actor for each in entries] == ["person:ann"] * 2


@pytest.mark.parametrize(
    ("person_id", "password"),
    [
        ("ann", "wrong horse battery"),
        ("ann", ""),
        ("bob", PASSWORD),
        ("", PASSWORD),
        ("idle", PASSWORD),
        ("x" * 5000, PASSWORD),
    ],
)
async def test_whoever_is_not_let_in_is_told_the_same(pool: Pool, person_id: str, password: str) -> None:
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "viewer")
        await open_desk.hire("idle", "viewer")
        await open_desk.rooms[PeopleStore].disable("idle", by=ADMIN, also=nothing_else)
        denied = await (await open_desk.browser()).sign_in(person_id, password)
        assert denied.status_code == 403
        assert WRONG in denied.text
        assert "abacus=" not in denied.headers.get("set-cookie", "")
        if password:
            assert password not in denied.text


async def test_what_was_typed_is_kept_but_for_the_password(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        denied = await (await open_desk.browser()).sign_in("<script>alert(1)</script>", "secret of mine")
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in denied.text
        assert "<script>alert" not in denied.text
        assert "secret of mine" not in denied.text


async def test_attempts_are_counted_for_a_person_at_an_address_and_for_an_address(pool: Pool) -> None:
    async with desk(pool, attempts=Attempts(per_person_and_address=2, per_address=4)) as open_desk:
        await open_desk.hire("ann", "viewer")
        first, second = [await open_desk.browser(address) for address in ("192.0.2.1", "192.0.2.2")]
        tries = [
            (first, "ann"),
            (second, "ann"),
            (second, "ann"),
            (second, "ann"),
            (first, "a"),
            (first, "b"),
            (first, "c"),
            (first, "d"),
        ]
        answers = [(await browser.sign_in(person_id, "wrong")) for browser, person_id in tries]
        assert [each.status_code for each in answers] == [403, 403, 403, 429, 403, 403, 403, 429]
        assert int(answers[3].headers["retry-after"]) > 0
        assert (await second.sign_in("ann")).status_code == 429  # also with the right password
        open_desk.clock.pass_(minutes=2)
        assert (await second.sign_in("ann")).status_code == 303


@pytest.mark.long
async def test_nobody_locks_another_out_from_elsewhere(pool: Pool) -> None:
    """Many try for ann from many places: each of them waits, and so does ann at a new place, but not where it was."""
    slowed_s = 0.2
    async with desk(pool, attempts=Attempts(unslowed=3, slowed_s=slowed_s)) as open_desk:
        await open_desk.hire("ann", "viewer")
        here = await open_desk.browser("192.0.2.1")
        assert (await here.sign_in("ann")).status_code == 303
        for number in range(20, 30):
            wrong = await (await open_desk.browser(f"192.0.2.{number}")).sign_in("ann", "wrong")
            assert wrong.status_code == 403
        began = time.monotonic()
        assert (await (await open_desk.browser("192.0.2.2")).sign_in("ann")).status_code == 303
        assert time.monotonic() - began >= slowed_s
        assert await open_desk.premises.sessions.began_at("ann", "192.0.2.1")
        assert not await open_desk.premises.sessions.began_at("ann", "192.0.2.20")
        assert (await (await open_desk.browser("192.0.2.1")).sign_in("ann")).status_code == 303


async def test_codes_are_counted_for_the_person_wherever_they_are_tried(pool: Pool) -> None:
    """For somebody who knows the password, and has a million codes to try from as many places."""
    async with desk(pool, attempts=Attempts(codes=3)) as open_desk:
        await open_desk.hire("ann", "viewer")
        await open_desk.authenticators.enrol("ann", by="tests", also=nothing_else)
        browsers = [await open_desk.browser(f"192.0.2.{number}") for number in range(5)]
        assert [(await each.sign_in("ann", code="000000")).status_code for each in browsers] == [403] * 3 + [429] * 2
        other = await open_desk.browser("192.0.2.9")
        assert (await other.sign_in("ann", "wrong")).status_code == 403, "who has no password counts no codes"


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:ffff::1", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("a proxy", "a proxy"),
    ],
)
def test_an_address_is_counted_by_its_network(address: str, network: str) -> None:
    assert network_of(address) == network


async def test_other_processes_count_the_same_attempts(pool: Pool) -> None:
    attempts = Attempts(per_person_and_address=2)
    async with desk(pool, attempts=attempts) as one, desk(pool, attempts=attempts) as other:
        codes = [
            (await (await each.browser()).sign_in("ann", "wrong")).status_code for each in (one, other, one, other)
        ]
        assert codes == [403, 403, 429, 429]


async def test_a_link_works_once_and_for_a_while(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "viewer")
        links = [
            (await open_desk.links.make("ann", holds_for=timedelta(minutes=5), by="tests", also=nothing_else))[0].text
            for _ in range(2)
        ]
        used, late = [f"/sign-in/link?token={each}" for each in links]
        ann = await open_desk.browser()
        for _ in range(2):  # looking does not use it up
            assert "Sign in as ann" in (await ann.see(used)).text
        assert (await ann.send(used, "/sign-in/link")).status_code == 303
        assert (await ann.see("/")).status_code == 200
        other = await open_desk.browser()
        assert (await other.see(used)).status_code == 403
        open_desk.clock.pass_(minutes=6)
        for bad in (late, "/sign-in/link?token=abl_x", "/sign-in/link"):
            assert (await other.see(bad)).status_code == 403


async def test_a_link_cannot_be_used_twice_at_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "viewer")
        token, _ = await open_desk.links.make("ann", holds_for=timedelta(minutes=5), by="tests", also=nothing_else)
        link = await open_desk.links.find(token.text)
        assert link is not None
        assert [await open_desk.links.use(link) for _ in range(2)] == [True, False]


async def test_who_has_an_authenticator_needs_its_code_and_a_code_works_once(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "approver")
        uri = await open_desk.authenticators.enrol("ann", by="tests", also=nothing_else)
        secret = bytes_of(uri.partition("secret=")[2].partition("&")[0])
        stored = await pool.fetchval("select secret from console_authenticator")
        assert stored.startswith("enc:v1:k1:")
        ann = await open_desk.browser()
        for wrong in ("", "000000", "12345", "abcdef", "\uff11" * 6):
            denied = await ann.sign_in("ann", code=wrong)
            assert (denied.status_code, WRONG in denied.text) in {(403, True), (429, False)}
            open_desk.clock.pass_(minutes=1)
        code = code_at(secret, open_desk.clock.now())
        assert (await ann.sign_in("ann", code=code)).status_code == 303
        assert (await (await open_desk.browser()).sign_in("ann", code=code)).status_code == 403
        open_desk.clock.pass_(seconds=30)
        spaced = code_at(secret, open_desk.clock.now())
        assert (await (await open_desk.browser()).sign_in("ann", code=f"{spaced[:3]} {spaced[3:]}")).status_code == 303


async def test_roles_may_need_an_authenticator(pool: Pool) -> None:
    async with desk(pool, code_for=(Role.APPROVER,)) as open_desk:
        await open_desk.hire("ann", "approver:SG")
        await open_desk.hire("bob", "viewer")
        denied = await (await open_desk.browser()).sign_in("ann")
        assert (denied.status_code, "abacus people totp ann" in denied.text) == (403, True)
        assert (await (await open_desk.browser()).sign_in("bob")).status_code == 303


@pytest.mark.parametrize(
    ("used_every_minutes", "times", "holds", "headers"),
    [(50, 5, True, {}), (61, 1, False, {}), (50, 20, False, {}), (40, 2, False, {"X-By-Itself": "yes"})],
    ids=["used", "idle", "whole", "page that asks by itself"],
)
async def test_a_session_ends_when_it_is_idle_and_in_any_case(
    pool: Pool,
    used_every_minutes: int,
    times: int,
    holds: bool,  # noqa: FBT001  # a row's outcome
    headers: dict[str, str],
) -> None:
    async with desk(pool, idle=timedelta(hours=1), whole=timedelta(hours=12)) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        codes = []
        for _ in range(times):
            open_desk.clock.pass_(minutes=used_every_minutes)
            codes.append((await ann.see("/me", **headers)).status_code)
        assert (codes[-1] == 200) is holds


@pytest.mark.parametrize("taken", ["revoked", "disabled", "no role", "other role"])
async def test_what_is_taken_away_counts_at_the_next_request(pool: Pool, taken: str) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "admin")
        assert (await ann.see("/people")).status_code == 200
        people = open_desk.rooms[PeopleStore]
        if taken == "revoked":
            await open_desk.premises.sessions.end("ann", None, by="tests", also=nothing_else)
        elif taken == "disabled":
            await people.disable("ann", by=MACHINE, also=nothing_else)
        else:
            grants = parse_grants(["viewer:SG"] if taken == "other role" else [])
            await people.vouch("ann", grants, also=nothing_else)
        await open_desk.refresh()
        after = [(await ann.see(path)).status_code for path in ("/people", "/approvals")]
        assert after == ([403, 200] if taken == "other role" else [303, 303])


async def test_signing_in_gives_another_session_and_ends_the_one_before(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "viewer")
        attacker = await open_desk.browser()
        await attacker.see("/sign-in")
        planted = attacker.client.cookies["abacus-visit"]
        victim = await open_desk.browser()
        victim.client.cookies.set("abacus-visit", planted, domain="console.example", path="/")
        victim.client.cookies.set("abacus", "abs_" + "x" * 55, domain="console.example", path="/")
        await victim.sign_in("ann")
        assert victim.client.cookies["abacus"] not in {planted, "abs_" + "x" * 55}
        assert (await attacker.see("/")).status_code == 303
        first = victim.client.cookies["abacus"]
        assert (await victim.sign_in("ann")).status_code == 303
        assert victim.client.cookies["abacus"] != first
        assert await open_desk.premises.sessions.find(first) is None


async def test_another_password_ends_the_sessions(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        await open_desk.passwords.set("ann", "another horse battery", by=ADMIN.source, also=nothing_else)
        assert (await ann.see("/me")).status_code == 303
        assert (await ann.sign_in("ann")).status_code == 403
        assert (await ann.sign_in("ann", "another horse battery")).status_code == 303


async def test_only_digests_of_tokens_are_kept(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        token = ann.client.cookies["abacus"]
        row = await pool.fetchrow("select * from console_session")
        assert token[16:] not in str(dict(row))
        assert token[16:].encode() not in row["digest"]


async def test_a_password_is_kept_as_argon2id(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "viewer")
        kept = await pool.fetchval("select hash from console_password")
        assert kept.startswith("$argon2id$")


@pytest.mark.parametrize(
    "next_",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/%09/evil.example",
        "evil",
        "",
    ],
)
async def test_nobody_is_sent_elsewhere(pool: Pool, next_: str) -> None:
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "viewer")
        entered = await (await open_desk.browser()).sign_in("ann", next_=next_)
        assert (entered.status_code, entered.headers["location"]) == (303, "/")


@pytest.mark.parametrize(("url", "secure"), [("http://console.example", False), ("https://console.example", True)])
async def test_cookies_are_for_this_host_and_no_script(pool: Pool, url: str, secure: bool) -> None:  # noqa: FBT001  # as above
    async with desk(pool, url=url) as open_desk:
        await open_desk.hire("ann", "viewer")
        browser = await open_desk.browser()
        entered = await browser.sign_in("ann")
        session = next(each for each in entered.headers.get_list("set-cookie") if "abs_" in each)
        assert session.startswith("__Host-abacus=" if secure else "abacus=")
        assert ("; Secure" in session) is secure
        for part in ("; HttpOnly", "; Path=/", "; SameSite=lax", "; Max-Age=43200"):
            assert part in session
        assert "Domain" not in session
        assert ("strict-transport-security" in entered.headers) is secure


async def test_behind_a_proxy_the_address_is_the_one_that_it_names(pool: Pool) -> None:
    async with desk(pool, behind_proxy=True) as open_desk:
        await open_desk.hire("ann", "viewer")
        browser = await open_desk.browser("10.0.0.1")
        browser.client.headers["X-Forwarded-For"] = "6.6.6.6, 203.0.113.9"
        await browser.sign_in("ann")
        assert await pool.fetchval("select address from console_session") == "203.0.113.9"


@pytest.mark.parametrize(
    ("why", "says"),
    [
        ("over", "Your session is over: after 60 minutes without use"),
        ("unsent", "what you sent was not done"),
        ("out", "You are signed out."),
        ("<b>", None),
        ("", None),
    ],
)
async def test_who_is_sent_to_sign_in_is_told_why(pool: Pool, why: str, says: str | None) -> None:
    async with desk(pool) as open_desk:
        browser = await open_desk.browser()
        page = (await browser.see(f"/sign-in?why={why}")).text
        assert ("notice waiting" in page, says is None or says in page) == (says is not None, True)
        assert "<b>" not in page


async def test_a_session_that_is_over_says_what_became_of_the_request(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        token = (await ann.see("/me")).text.partition('name="form" value="')[2].partition('"')[0]
        open_desk.clock.pass_(hours=2)
        looked = await ann.see("/approvals")
        assert looked.headers["location"] == "/sign-in?next=/approvals&why=over"
        sent = await ann.client.post("/me/zone", data={"form": token, "zone": "Asia/Singapore"})
        assert sent.headers["location"] == "/sign-in?next=/&why=unsent"


@pytest.mark.parametrize(
    ("admins", "says"),
    [(("eve", "root"), "Ask eve or root for it."), ((), "There is no admin yet who could give it.")],
)
async def test_a_missing_right_is_told_with_who_can_give_it(pool: Pool, admins: tuple[str, ...], says: str) -> None:
    async with desk(pool) as open_desk:
        for each in admins:
            await open_desk.hire(each, "admin")
        await open_desk.hire("local", "admin:SG")
        await open_desk.hire("gone", "admin")
        await open_desk.rooms[PeopleStore].disable("gone", by=MACHINE, also=nothing_else)
        ann = await open_desk.inside("ann", "viewer:SG")
        page = (await ann.see("/people")).text
        assert "takes the role admin" in page
        assert says in page
