"""`abacus partners`: its output, its rows, its refusals."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.exchanges.link_store import LinkStore
from abacus.intake.partners.store import signing_secret_of
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.postgres import open_pool
from abacus.platform.sandbox import SESSION
from abacus.pricing.store.cards import CardStore
from tests.support.commands import abacus, abacus_process
from tests.support.house import House
from tests.support.staff import LOGIN

pytestmark = pytest.mark.once


@pytest.mark.long
async def test_a_partners_life(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url")}

    made = (
        await abacus(
            *("partners", "create", "acme", "--name", "Acme Ltd", "--no-computed-points", "--country", "SG"),
            *(
                "--country",
                "ID",
                "--budget-per-day",
                "5000",
                "--cap-per-award",
                "100",
                "--sign",
                "--json",
            ),
            env=env,
        )
    ).json
    assert made["key"].startswith("abk_live_")
    assert made["signing_secret"].startswith("abs_")
    rotated = (await abacus("partners", "rotate-key", "acme", "--overlap-hours", "1", "--json", env=env)).json
    assert rotated["key"] != made["key"]

    listed = await abacus("partners", "list", "--json", env=env)
    for secret in (made["key"], rotated["key"], made["signing_secret"]):
        assert secret not in listed.out
    stored = await house.pool.fetch("select * from partner_key")
    assert all(made["key"] not in str(dict(row)) for row in stored)
    (acme,) = listed.json
    assert (acme["name"], acme["created_by"], acme["countries"]) == ("Acme Ltd", LOGIN, ["SG", "ID"])
    assert (acme["fixed_points"], acme["computed_points"], acme["signed"]) == (True, False, True)
    assert acme["limits"] == {"per_award": 100, "per_member_day": None, "per_day": 5000, "in_total": None}
    assert [key["prefix"] for key in acme["keys"]] == [made["key"][:21], rotated["key"][:21]]
    assert acme["keys"][0]["expires_at"] is not None

    signed = (await abacus("partners", "sign", "acme", "--json", env=env)).json
    assert signed["signing_secret"].startswith("abs_")
    assert signed["signing_secret"] != made["signing_secret"]
    assert (await house.pool.fetchval("select signing_secret from partner")) == signed["signing_secret"]
    assert (await abacus("partners", "sign", "acme", "--off", env=env)).out == "acme need not sign its requests\n"
    assert (await abacus("partners", "list", "--json", env=env)).json[0]["signed"] is False

    limited = (await abacus("partners", "limit", "acme", "--budget-total", "9000", "--json", env=env)).json
    assert limited["limits"] == {"per_award": 100, "per_member_day": None, "per_day": 5000, "in_total": 9000}
    limited = (await abacus("partners", "limit", "acme", "--no-limits", "--json", env=env)).json
    assert set(limited["limits"].values()) == {None}
    assert (await abacus("partners", "disable", "acme", env=env)).out.startswith("acme is disabled since")
    table = await abacus_process("partners", "list", env={**env, "COLUMNS": "200"})
    assert "Acme Ltd" in table.out
    assert "disabled" in table.out


async def test_a_partner_is_changed_in_what_is_named_and_in_nothing_else(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url")}
    assert (await abacus("partners", "create", "acme", "--country", "SG", "--cap-per-award", "5", env=env)).code == 0

    async def acme() -> dict[str, Any]:
        document: dict[str, Any] = (await abacus("partners", "show", "acme", "--json", env=env)).json
        assert [document] == (await abacus("partners", "list", "--json", env=env)).json
        return document

    before = await acme()
    may = ("spend", "adjust", "see_others", "count", "read_members", "use_offers", "explain_offers", "load_places")
    assert [before[f"may_{right}"] for right in may] == [False] * len(may)  # unless that is said
    changed = await abacus(
        *("partners", "set", "acme", "--adjust", "--see-others", "--country", "ID", "--country", "SG", "--spend"),
        "--json",
        env=env,
    )
    assert changed.json == {
        "partner_id": "acme",
        "changed": {
            "countries": {"before": ["SG"], "after": ["ID", "SG"]},
            "may_spend": {"before": False, "after": True},
            "may_adjust": {"before": False, "after": True},
            "may_see_others": {"before": False, "after": True},
        },
    }
    rights = {"countries": ["ID", "SG"], "may_spend": True, "may_adjust": True, "may_see_others": True}
    assert await acme() == before | rights
    said = await abacus(
        *("partners", "set", "acme", "--all-countries", "--name", "Acme Ltd", "--requests-per-minute", "9000"),
        *("--no-adjust", "--card", "SG"),
        env=env,
    )
    assert said.out.splitlines() == [
        "acme: name acme -> Acme Ltd",
        "acme: country ID, SG -> all",
        "acme: card the country's -> SG",
        "acme: requests-per-minute 60,000 -> 9,000",
        "acme: adjust yes -> no",
    ]
    assert (await abacus("partners", "set", "acme", "--no-card", env=env)).out == "acme: card SG -> the country's\n"
    shown = (await abacus("partners", "show", "acme", env=env)).out.splitlines()
    assert shown[0].startswith("acme: Acme Ltd, 20")
    assert shown[1:6] == [
        "may: fixed, computed, spend, see others",
        "countries: all",
        "sources: acme",
        "requests a minute: 9,000; not signed",
        "limits: 5 an award",
    ]
    assert shown[-1].endswith("…: valid, never used")
    named = await abacus("partners", "set", "acme", "--source", "rides", "--source", "meals", env=env)
    assert named.out == "acme: source acme -> acme, rides, meals\n"
    assert (await acme())["sources"] == ["rides", "meals"]
    assert (await abacus("partners", "set", "acme", "--no-source", env=env)).out.endswith("-> acme\n")
    await house.pool.execute("update partner set sources = null")  # as of a partner from before
    assert "sources: any" in (await abacus("partners", "show", "acme", env=env)).out


async def test_secrets_are_stored_under_the_first_key_and_rewrap_brings_the_rest_there(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url"), "ABACUS_WEBHOOKS_TO_PRIVATE": "1"}
    old, new = new_keyring_text("k1"), new_keyring_text("k2")
    assert (await abacus("partners", "create", "acme", "--sign", env=env)).code == 0
    under_old = env | {"ABACUS_SECRETS_KEY": old}
    secret = (await abacus("partners", "create", "bits", "--sign", "--json", env=under_old)).json["signing_secret"]
    assert (await abacus("partners", "webhook", "set", "bits", "http://127.0.0.1:1/", env=under_old)).code == 0
    stored = await house.pool.fetchval("select signing_secret from partner where partner_id = 'bits'")
    assert stored.startswith("enc:v1:k1:")
    assert await Secrets.of(old).read(stored, signing_secret_of("bits")) == secret

    both = env | {"ABACUS_SECRETS_KEY": f"{new},{old}"}
    assert (await abacus("partners", "rewrap", env=both)).out == "3 secrets encrypted anew, 0 under the key before\n"
    assert (await abacus("partners", "rewrap", "--json", env=both)).json == {
        "changed": 0,
        "current": 3,
        "unreadable": [],
    }
    refused = await abacus("partners", "rewrap", env=env)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "ABACUS_SECRETS_KEY is not set" in refused.err
    lost = await abacus("partners", "rewrap", env=under_old)
    assert (lost.code, lost.err.count("\n")) == (2, 3)
    assert "abacus: signing_secret of acme (partner) cannot be read: ABACUS_SECRETS_KEY has no key 'k2'" in lost.err
    tried = await abacus("partners", "webhook", "test", "bits", env=under_old)
    assert (tried.code, tried.err.count("\n")) == (2, 1)
    listed = await abacus("partners", "list", "--json", env=env)
    assert [each["signed"] for each in listed.json] == [True, True]
    assert "enc:" not in listed.out


@pytest.mark.long
async def test_a_test_key_needs_a_sandbox_and_is_shown_once(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url"), "ABACUS_SECRETS_KEY": new_keyring_text("k1")}
    assert (await abacus("partners", "create", "acme", "--sign", "--cap-per-award", "7", env=env)).code == 0
    refused = await abacus("partners", "test-key", "acme", env=env)
    assert (refused.code, refused.err) == (
        2,
        "abacus: there is no sandbox; `abacus migrate --sandbox`, as the owner, makes it\n",
    )
    assert "test keys have a sandbox" in (await abacus("migrate", "--sandbox", env=env)).out
    made = (await abacus("partners", "test-key", "acme", "--json", env=env)).json
    assert made["partner_id"] == "acme"
    assert made["key"].startswith("abk_test_")
    assert made["signing_secret"].startswith("abs_")
    (row,) = await house.pool.fetch("select partner_id, signing_secret from sandbox.partner")
    assert (row["partner_id"], row["signing_secret"][:10]) == ("acme", "enc:v1:k1:")
    assert await house.pool.fetchval("select per_award from sandbox.allowance") == 7
    assert (await abacus("partners", "test-key", "acme", env=env)).out.startswith("abk_test_")
    ended = "select count(*) filter (where expires_at <= now()), count(*) from sandbox.partner_key"
    assert tuple(await house.pool.fetchrow(ended)) == (1, 2)
    own = await open_pool(env["ABACUS_DATABASE_URL"], size=1, settings=SESSION)
    await LinkStore(own, Secrets.of(env["ABACUS_SECRETS_KEY"])).key()
    await own.close()
    assert (await abacus("partners", "rewrap", "--json", env=env)).json["current"] == 3  # two are the sandbox's
    assert (await abacus("partners", "test-key", "nobody", env=env)).code == 1
    assert "sandbox" in (await abacus("migrate", "--new-sandbox", env=env)).out
    assert await house.pool.fetchval("select count(*) from sandbox.partner") == 0


async def test_a_disabled_partner_is_enabled_with_the_key_that_it_had(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url")}
    assert (await abacus("partners", "create", "acme", env=env)).code == 0
    assert (await abacus("partners", "disable", "acme", env=env)).code == 0
    assert (await abacus("partners", "enable", "acme", env=env)).out == "acme is enabled\n"
    (acme,) = (await abacus("partners", "list", "--json", env=env)).json
    assert (acme["disabled_at"], acme["keys"][0]["expires_at"]) == (None, None)


async def test_a_withdrawn_card_is_no_card_of_a_partner(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url")}
    store, now = CardStore(house.pool), SystemClock().now()
    own = replace(example_cards()[0], scope="partner:bits", effective_from=now + timedelta(days=1))
    await store.publish(own, by="ann", now=now)
    await store.withdraw("partner:bits", 1, by="ann", reason="not agreed", now=now)
    refused = await abacus("partners", "create", "bits", "--card", "partner:bits", env=env)
    assert (refused.code, refused.err) == (2, "abacus: --card: no rate card of the scope 'partner:bits' is published\n")


@pytest.mark.long
async def test_what_is_refused(house: House) -> None:
    env = {"ABACUS_DATABASE_URL": house.settings.required("database_url")}
    assert (await abacus("partners", "create", "acme", env=env)).code == 0
    for arguments, line in (
        (["create", "acme"], "there is a partner 'acme' already"),
        (["create", "Acme"], "'Acme': an id has 1 to 40 small letters, digits and hyphens"),
        (["create", "bits", "--country", "sg"], "--country: 'sg' is not a country"),
        (["create", "bits", "--no-fixed-points", "--no-computed-points"], "a partner that may do nothing"),
        (["create", "bits", "--card", "partner:bits"], "no rate card of the scope 'partner:bits' is published"),
        (["rotate-key", "nobody"], "there is no partner 'nobody'"),
        (["disable", "nobody"], "there is no partner 'nobody'"),
        (["enable", "nobody"], "there is no partner 'nobody'"),
        (["show", "nobody"], "there is no partner 'nobody'"),
        (["set", "nobody", "--adjust"], "there is no partner 'nobody'"),
        (["set", "acme"], "say what to change"),
        (["set", "acme", "--name", " "], "--name: say who the partner is"),
        (["set", "acme", "--country", "sg"], "--country: 'sg' is not a country"),
        (["set", "acme", "--no-fixed-points", "--no-computed-points"], "a partner that may do nothing"),
        (["set", "acme", "--card", "partner:bits"], "no rate card of the scope 'partner:bits' is published"),
        (["set", "acme", "--all-countries", "--country", "SG"], "say one of the two"),
        (["sign", "nobody"], "there is no partner 'nobody'"),
        (["limit", "nobody", "--no-limits"], "there is no partner 'nobody'"),
        (["limit", "acme"], "say which limits to change"),
        (["limit", "acme", "--no-limits", "--cap-per-award", "1"], "say which limits to change"),
    ):
        ran = await abacus("partners", *arguments, env=env)
        assert ran.code == (1 if line.startswith("there is no ") else 2), arguments
        assert line in ran.err
        assert "Traceback" not in ran.err
