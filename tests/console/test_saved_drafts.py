"""Drafts that people save: continued by their owner, read and copied by others, gone once they are submitted."""

import json
from uuid import uuid4

import pytest

from abacus.console.drafts.store import LARGEST, Draft, DraftStore
from abacus.console.pages.drafts.draft_text import sent
from abacus.console.web.forms import Form
from abacus.core.errors import Refused
from abacus.people.store.audit import log
from abacus.platform.postgres import Pool
from tests.console.campaigning import TOML, cards
from tests.console.desk import desk
from tests.console.drafting import DRAFT, save_draft

PAGE = "/campaigns-draft"
FAULTY = 'name = "half"\ncountry = "SG"\nsteps = = 3\n'


async def test_a_draft_is_saved_with_its_faults_continued_and_gone_once_it_is_submitted(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        first = await ann.send_for_twin(PAGE, PAGE, text=FAULTY, shown=FAULTY, act="save")
        assert (first.status_code, first.json()["draft"]["text"]) == (200, FAULTY)
        saved = first.json()["saved"]
        (row,) = (await ann.twin("/drafts")).json()["mine"]
        assert (row["title"], row["country"], row["noun"]) == ("a campaign", None, "campaign")
        here = row["path"]
        assert (await ann.twin(here)).json()["draft"]["text"] == FAULTY
        # The page carries the draft: saved again, it is the same one.
        again = await ann.send_for_twin(here, PAGE, text=TOML, shown=TOML, act="save")
        assert again.json()["saved"]["draft_id"] == saved["draft_id"]
        (row,) = (await ann.twin("/drafts")).json()["mine"]
        assert (row["title"], row["country"]) == ("market", "SG")
        assert "Your drafts" in (await ann.see("/")).text
        shown = (await ann.send_for_twin(here, PAGE, text=TOML, shown=TOML, act="submit")).json()
        done = await ann.send(here, PAGE, text=TOML, shown=TOML, act="submit", digest=shown["digest"])
        assert done.headers["location"].startswith("/approvals/")
        assert (await ann.twin("/drafts")).json()["mine"] == []
        assert (await ann.see(here)).status_code == 404
        entries = await log(pool, subjects=[f"draft:{saved['draft_id']}"])
        assert [(each.actor, each.country) for each in entries] == [("person:ann", "SG"), ("person:ann", None)]


async def test_what_was_typed_is_undone_after_a_draft_is_opened_again(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        await ann.send_for_twin(PAGE, PAGE, text=TOML, shown=TOML, act="save", **{"doc.name": "shop"})
        here = (await ann.twin("/drafts")).json()["mine"][0]["path"]
        opened = (await ann.twin(here)).json()["draft"]
        assert opened["before"] == [TOML]
        undo = {"text": opened["text"], "undo": json.dumps(opened["before"]), "act": "undo"}
        back = (await ann.send_for_twin(here, PAGE, **undo)).json()["draft"]
        assert (back["text"], back["before"]) == (TOML, [])


def test_what_can_be_undone_has_a_bound() -> None:
    carried = Form({"text": "a", "undo": json.dumps(["x" * LARGEST, *map(str, range(20))])})
    assert sent(carried).before == [str(each) for each in range(10, 20)]
    assert sent(Form({"text": "a", "undo": json.dumps(["b", "x" * (LARGEST + 1)])})).before == []


async def test_a_draft_at_fault_says_what_its_trials_wait_for(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        trials = []
        for text in (FAULTY, TOML):
            typed = {"text": text, "shown": text, "act": "check", "member": "bob"}
            shown = (await ann.send_for_twin(PAGE, PAGE, **typed)).json()
            trials.append([(each["button"], each["waits"], bool(each["fields"])) for each in shown["trial_forms"]])
        assert trials == [
            [("Simulate", True, False), ("Backtest", True, False)],
            [("Simulate", False, True), ("Backtest", False, True)],
        ]
        page = (await ann.send(PAGE, PAGE, text=FAULTY, shown=FAULTY, act="check", member="bob")).text
        assert 'value="simulate"' not in page
        assert '<input type="hidden" name="member" value="bob">' in page


@pytest.mark.parametrize(
    ("roles", "country", "seen", "may_copy"),
    [
        (["country_editor:SG"], "SG", True, True),
        (["viewer:SG"], "SG", True, False),
        (["country_editor:ID"], "SG", False, False),
        (["country_editor:SG"], None, False, False),
        (["country_editor"], None, True, True),
    ],
)
async def test_others_see_a_draft_of_their_country_and_write_on_a_copy(
    pool: Pool, roles: list[str], country: str | None, *, seen: bool, may_copy: bool
) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await save_draft(open_desk, country=country)
        ben = await open_desk.inside("ben", *roles)
        listed = (await ben.twin("/drafts")).json()["others"]["rows"]
        assert [(each["owner"], each["path"] is not None) for each in listed] == [("ann", may_copy)] * seen
        page = await ben.twin(f"/drafts/{DRAFT}")
        assert page.status_code == (200 if seen else 404)
        token = (await ben.see("/drafts")).text.partition('name="form" value="')[2].partition('"')[0]
        deleted = await ben.client.post(f"/drafts/{DRAFT}/delete", data={"form": token})
        assert deleted.status_code == (403 if seen else 404)
        if may_copy:
            copied = await ben.send_for_twin(listed[0]["path"], PAGE, text=TOML, shown=TOML, act="save")
            assert copied.json()["saved"]["draft_id"] != str(DRAFT)
            assert [each["owner"] for each in (await ben.twin("/drafts")).json()["mine"]] == ["ben"]
        assert (await open_desk.rooms[DraftStore].find(DRAFT)) is not None


async def test_a_draft_is_deleted_by_its_owner(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await save_draft(open_desk)
        ann = await open_desk.inside("ann", "country_editor:SG")
        gone = await ann.send("/drafts", f"/drafts/{DRAFT}/delete")
        assert gone.headers["location"] == "/drafts"
        assert (await ann.twin("/drafts")).json()["mine"] == []
        assert len(await log(pool, subjects=[f"draft:{DRAFT}"])) == 1


async def test_a_draft_of_a_country_of_others_is_not_saved_and_stays_on_the_page(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        budi = await open_desk.inside("budi", "country_editor:ID")
        refused = await budi.send_for_twin(PAGE, PAGE, text=TOML, shown=TOML, act="save")
        assert (refused.status_code, refused.json()["draft"]["text"]) == (422, TOML)
        assert "SG" in refused.json()["fault"]
        assert (await budi.twin("/drafts")).json()["mine"] == []


async def test_drafts_of_one_person_have_a_bound_and_so_has_each_text(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        now, store = open_desk.clock.now(), DraftStore(pool, most=1)
        first, second, bens = (
            Draft(uuid4(), "campaigns", "market", "SG", owner, now) for owner in ("ann", "ann", "ben")
        )
        await store.save(first, "a = 1")
        await store.save(first, "a = 2")
        await store.save(bens, "b = 1")
        for draft, text in ((second, ""), (first, "x" * (LARGEST + 1)), (first._replace(owner="cat"), "stolen")):
            with pytest.raises(Refused):
                await store.save(draft, text)
        kept = await store.find(first.draft_id)
        assert kept is not None
        assert (kept.draft, kept.text) == (first, "a = 2")
        await store.delete(first.draft_id, "ben")
        assert await store.find(first.draft_id) == kept
