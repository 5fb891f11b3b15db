"""Invitations on the page of an offer: members of a list, or of a file, are invited, or no longer."""

from abacus.platform.postgres import Pool
from tests.console.desk import desk
from tests.support.offers import document, run_offers

PAGE = "/offers/lunch_20"
SENT = f"{PAGE}/invite"


async def test_members_are_invited_and_no_longer(pool: Pool) -> None:
    await run_offers(pool, document(audience="invitation"))
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "country_editor:SG")
        viewer = await open_desk.inside("vera", "viewer:SG")
        assert "0 members are invited" in (await ann.see(PAGE)).text
        bad = await ann.send(PAGE, SENT, how="add", members="bob\n" + "x" * 129)
        assert (bad.status_code, "Line 2: " in bad.text) == (422, True)
        assert (await ann.send(PAGE, SENT, how="add", members=" ")).status_code == 422
        assert (await ann.send(PAGE, SENT, how="all", members="bob")).status_code == 422
        for how, members, file, left in (
            ("add", "bob\nann\nbob", "", 2),
            ("add", "", "name,member_id\nB,bob\nC,cleo\n", 3),
            ("remove", "ann\ndora", "", 2),
            ("replace", "eve", "", 1),
        ):
            assert (await ann.send(PAGE, SENT, how=how, members=members, file=file)).status_code == 303
            assert (await viewer.twin(PAGE)).json()["invitations"]["invited"] == left
        assert "1 member is invited" in (await viewer.see(PAGE)).text
        assert SENT not in (await viewer.see(PAGE)).text
        did = await pool.fetch("select details ->> 'did' as did from audit_log where subject = 'offer:lunch_20'")
        assert sorted(row["did"] for row in did if "invite" in row["did"]) == ["invite"] * 3 + ["uninvite"]
        await run_offers(pool, document(name="open"))
        assert (await ann.twin("/offers/open")).json()["invitations"] is None
