"""Support exchanges a member's points by commands: quoted, converted once, cancelled before it is sent."""

from abacus.core.clock import SystemClock
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.position_rows import EntryDraft, locked_standings, write_entries
from abacus.platform.encryption import new_keyring_text
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.commands import Ran, abacus
from tests.support.exchanges import CARDS, NOW, SKYMILES, enter_partner, run_programme
from tests.support.rewards import give_points
from tests.support.staff import hire


async def test_support_exchanges_for_a_member(pool: Pool, database_url: str) -> None:
    await CardStore(pool).publish(CARDS["SG"].card, by="ann", now=NOW)
    await enter_partner(pool, SystemClock())
    programme = await run_programme(pool, {key: text for key, text in SKYMILES.items() if key != "in"})
    await give_points(pool, ["bob"], 5000)
    async with pool.acquire() as connection, connection.transaction():
        money = programme.directions[Direction.OUT].price * 10_000
        paid = EntryDraft("skymiles", EntryKind.PAYMENT, money, "SGD", "ann")
        await write_entries(connection, await locked_standings(connection, ["skymiles"]), [paid], NOW)
    keys = {"ABACUS_DATABASE_URL": database_url, "ABACUS_SECRETS_KEY": new_keyring_text("one")}
    tokens = {"sue": await hire(pool, "sue", "support:SG"), "vic": await hire(pool, "vic", "viewer:SG")}

    async def run(*words: str, by: str = "sue") -> Ran:
        return await abacus("exchanges", *words, env={**keys, "ABACUS_TOKEN": tokens[by]})

    unlinked = await run("quote", "bob", "skymiles", "--points", "2500")
    assert (unlinked.code, "link" in unlinked.err) == (2, True)
    link = (await run("link", "bob", "skymiles", "SKY 1234 5678", "--send-code", "--json")).json["link_id"]
    code = await pool.fetchval("select part -> 'code' #>> '{}' from notice where member_id = 'bob'")
    await run("verify", link, "--code", str(code))
    assert (await run("quote", "bob", "skymiles", "--points", "2750")).code == 2
    assert "say --points or --target" in (await run("quote", "bob", "skymiles")).err
    quoted = await run("quote", "bob", "skymiles", "--points", "2500", "--json")
    assert (quoted.json["points"], quoted.json["theirs"]) == (2500, 1000)
    quote = quoted.json["quote_id"]
    assert (await run("convert", quote, "--reason", "she rang", by="vic")).code == 2
    for _ in range(2):
        held = await run("convert", quote, "--reason", "she rang", "--json")
        assert (held.json["state"], held.json["exchange_id"]) == ("held", quote)
    assert "only what the partner has credited" in (await run("reverse", quote, "--reason", "she rang")).err
    freed = await run("cancel", quote, "--reason", "she rang again", "--json")
    assert (freed.json["state"], freed.json["reason"]) == ("released", "called-off")
