"""`abacus exchanges links`, `link`, `verify`, `unlink` and `client-secret`, on a real Postgres."""

from pathlib import Path

from abacus.core.clock import SystemClock
from abacus.exchanges.client_secrets import ClientSecrets
from abacus.people.store.audit import log
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.commands import Ran, abacus
from tests.support.exchanges import CARDS, NOW, SKYMILES, enter_partner, run_programme
from tests.support.sign_ins import oauth_part
from tests.support.staff import hire

_CODE = "select part -> 'code' #>> '{}' from notice where member_id = 'bob'"


async def test_support_links_an_account_by_the_code_that_the_member_was_told(pool: Pool, database_url: str) -> None:
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, SystemClock())
    await run_programme(pool)
    keys = {"ABACUS_DATABASE_URL": database_url, "ABACUS_SECRETS_KEY": new_keyring_text("one")}
    tokens = {"sue": await hire(pool, "sue", "support:SG"), "vic": await hire(pool, "vic", "viewer:ID")}

    async def run(*words: str, by: str = "sue") -> Ran:
        return await abacus("exchanges", *words, env={**keys, "ABACUS_TOKEN": tokens[by]})

    asking = ("link", "bob", "skymiles", "SKY 1234 5678", "--send-code")
    assert (await run(*asking, by="vic")).code == 2
    asked = await run(*asking, "--json")
    assert (asked.code, asked.json["number"], asked.json["state"]) == (0, "…5678", "asked")
    link, code = asked.json["link_id"], str(await pool.fetchval(_CODE))
    wrong = await run("verify", link, "--code", "1")
    assert (wrong.code, "is not a code of six digits" in wrong.err) == (2, True)
    assert (await run("verify", link, "--code", code)).out == f"link {link}: …5678 of bob at skymiles is verified\n"
    assert [each["link_id"] for each in (await run("links", "bob", "--json")).json] == [link]
    assert (await run("links", "bob", "--json", by="vic")).json == []
    ended = await run("unlink", link, "--reason", "the member asked", "--json")
    assert (ended.code, ended.json["state"]) == (0, "ended")
    assert "no link" in (await run("unlink", "0d1f6c4e-1b7a-5f0e-9a55-2f5a6c0c7a11", "--reason", "x")).err


async def test_the_clients_secret_is_kept_and_not_shown(pool: Pool, database_url: str, tmp_path: Path) -> None:
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, SystemClock())
    await run_programme(pool)
    keyring = new_keyring_text("one")
    keys = {"ABACUS_DATABASE_URL": database_url, "ABACUS_SECRETS_KEY": keyring}
    tokens = {"ann": await hire(pool, "ann", "operator"), "vic": await hire(pool, "vic", "viewer")}
    file = tmp_path / "secret"
    file.write_text("s3cret from Skyline\n", encoding="utf-8")

    async def run(programme: str, name: object = file, by: str = "ann") -> Ran:
        env = {**keys, "ABACUS_TOKEN": tokens[by]}
        return await abacus("exchanges", "client-secret", programme, str(name), env=env)

    assert (await run("skymiles", by="vic")).code == 2
    assert "there is no programme 'other'" in (await run("other")).err
    assert "no version with `oauth` is in force" in (await run("skymiles")).err
    await run_programme(pool, {**SKYMILES, "oauth": oauth_part("https://id.example")})
    assert "No such file" in (await run("skymiles", tmp_path / "none")).err
    kept, client = await run("skymiles"), "abacus at https://id.example"
    assert (kept.code, kept.out) == (0, f"skymiles: the secret of {client} is kept\n")
    assert await ClientSecrets(pool, Secrets.of(keyring)).of("skymiles", client) == "s3cret from Skyline"
    (entry,) = await log(pool, subjects=["programme:skymiles"])
    assert (b"client-secret" in entry.details, b"s3cret" in entry.details) == (True, False)
