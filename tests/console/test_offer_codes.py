"""Single codes on the page of an offer: a file is loaded, codes are made and shown once, a batch is withdrawn."""

from abacus.core.codes import is_ours, normalized
from abacus.platform.postgres import Pool
from tests.console.desk import desk
from tests.engage.offers.coded import codes
from tests.support.offers import document, run_offers

PAGE = "/offers/lunch_20"


async def test_a_pool_is_filled_and_a_batch_withdrawn(pool: Pool) -> None:
    await run_offers(pool, document(audience="code", codes="pool"))
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "country_editor:SG")
        viewer = await open_desk.inside("vera", "viewer:SG")
        assert "nobody can take this offer" in (await ann.see(PAGE)).text
        bad = await ann.send(PAGE, f"{PAGE}/codes/load", codes="ABC-1\n?")
        assert (bad.status_code, "Line 2: no code" in bad.text) == (422, True)
        some = "\n".join(codes(3))
        assert (
            await ann.send(PAGE, f"{PAGE}/codes/load", codes=f"{some}\n{some}", loaded_batch="a file")
        ).status_code == 303
        for wrong in ("0", "many", "10001"):
            assert (await ann.send(PAGE, f"{PAGE}/codes/make", count=wrong)).status_code == 422
        made = await ann.send(PAGE, f"{PAGE}/codes/make", count="5", made_batch="made here")
        lines = made.text.splitlines()
        assert (made.status_code, len(lines), all(is_ours(normalized(each)) for each in lines)) == (200, 5, True)
        assert lines[0] not in (await ann.see(PAGE)).text
        assert f"{PAGE}/codes/" not in (await viewer.see(PAGE)).text
        withdrawn = await ann.send(PAGE, f"{PAGE}/codes/withdraw", batch="a file")
        assert withdrawn.status_code == 303
        told = (await viewer.twin(PAGE)).json()["codes"]
        assert {each["batch"]: each["loaded"] for each in told["batches"]} == {"a file": 3, "made here": 5}
        assert (told["pool"]["loaded"], told["pool"]["free"]) == (8, 5)
        did = await pool.fetch("select details ->> 'did' as did from audit_log where subject = 'offer:lunch_20'")
        assert sorted(row["did"] for row in did if "codes" in row["did"]) == ["load-codes"] * 2 + ["withdraw-codes"]
