"""Programmes of exchanges in the console: drafted, approved by another person, paused and ended."""

from abacus.core.document_text import write_toml
from abacus.exchanges.decide.link import LinkWay
from abacus.exchanges.link_store import LinkStore, Verified
from abacus.platform.postgres import Pool, nothing_else
from tests.console.campaigning import cards
from tests.console.desk import desk
from tests.support.exchanges import LINK_ID, SECRETS, SKYMILES, enter_link, enter_partner, run_programme


async def test_a_programme_from_its_text_to_its_end_by_two_people(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await enter_partner(pool, open_desk.clock)
        ann = await open_desk.inside("ann", "country_editor:SG")
        ben = await open_desk.inside("ben", "approver:SG")
        page, text = "/exchanges-draft", write_toml(SKYMILES)
        bad = await ann.submit(page, page, text.replace('"skyline"', '"nobody"'))
        assert (bad.status_code, "no partner that is enabled" in bad.text) == (422, True)
        waiting = (await ann.submit(page, page, text)).headers["location"]
        told = await ben.see(waiting)
        assert (told.status_code, "5 buy 2, 1000 to 100000 at once" in told.text) == (200, True)
        digest = (await ben.twin(waiting)).json()["digest"]
        assert (await ben.send(waiting, f"{waiting}/approve", digest=digest)).status_code == 303
        (row,) = (await ben.twin("/exchange-programmes")).json()["list"]["rows"]
        assert (row["name"], row["state"], row["told"]["exchanges"]) == ("skymiles", "running", "out and in")
        here = "/exchange-programmes/skymiles"
        for act, state in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
            assert (await ann.send(here, f"{here}/move", act=act, reason="so")).status_code == 303
            assert (await ann.twin(here)).json()["shown"]["row"]["state"] == state


async def test_a_link_of_a_member_is_seen_by_its_end_and_ended(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await enter_partner(pool, open_desk.clock)
        await run_programme(pool)
        await enter_link(pool, open_desk.clock, "bob")
        sue, eli = [await open_desk.inside(*each) for each in (("sue", "support:SG"), ("eli", "support:ID"))]
        (row,) = (await sue.twin("/members/bob")).json()["links"]["value"]
        assert (row["number"], row["programme"], row["state"]) == ("…5678", "skymiles", "asked")
        assert (await eli.twin("/members/bob")).json()["links"]["value"] == []
        here = f"/exchange-links/{LINK_ID}"
        assert (await eli.see(here)).status_code == 404
        assert (await sue.twin(here)).json()["row"]["verified_by"] is None
        verified = Verified(open_desk.clock.now(), open_desk.clock.now(), LinkWay.OAUTH)
        await LinkStore(pool, SECRETS).verify(LINK_ID, verified, nothing_else)
        assert "the member&#39;s sign-in at the partner" in (await sue.see(here)).text
        assert (await sue.send(here, f"{here}/end", reason="")).status_code == 422
        assert (await sue.send(here, f"{here}/end", reason="the member asked")).status_code == 303
        told = await sue.twin(here)
        assert (told.json()["row"]["state"], told.json()["may_end"], "1234" in told.text) == ("ended", False, False)
