"""What was done is said on the page after it, in that session, and nowhere else."""

import base64
import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

from abacus.console.entry.decide.browser import Use, sealed, unsealed
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, Said, See
from abacus.console.web.routes import form, page
from abacus.platform.postgres import Pool
from tests.console.desk import desk

DONE = Said("Ann <b>gave</b> 5", "waiting", "/approvals", "Look at it")


@dataclass(frozen=True, kw_only=True)
class Door(Page):
    """A page with nothing but a form of its own and the sentence."""

    template: ClassVar[str] = "own_sessions.html"
    person_id: str = "ann"
    roles: tuple[str, ...] = ()
    is_: str = ""
    rights: tuple[str, ...] = ()
    zone: str = "UTC"
    zones: tuple[tuple[str, str], ...] = ()
    sessions: tuple[str, ...] = ()


async def shown(_: Call) -> Page:
    return Door(title="Door")


async def opened(_: Call) -> See:
    return See("/door?x=1", DONE)


MORE = (page("/door", shown), page("/other", shown), form("/me/zone-of-door", opened))


async def test_it_stays_on_the_page_after_it(pool: Pool) -> None:
    async with desk(pool, more=MORE) as open_desk:
        ann, ben = await open_desk.inside("ann", "viewer"), await open_desk.inside("ben", "viewer")
        token = (await ann.see("/door")).text.partition('name="form" value="')[2].partition('"')[0]
        assert (await ann.twin("/door")).json()["said"] is None
        sent = await ann.client.post("/me/zone-of-door", data={"form": token})
        assert (sent.status_code, sent.headers["location"]) == (303, "/door?x=1")
        for _ in range(2):  # also when it is loaded again
            page_ = (await ann.see("/door?x=1")).text
            assert 'Ann &lt;b&gt;gave&lt;/b&gt; 5 <a href="/approvals">Look at it</a>' in page_
        assert (await ann.twin("/door?x=1")).json()["said"]["text"] == DONE.text
        assert (await ann.twin("/door")).json()["said"] is None
        assert (await ann.twin("/other")).json()["said"] is None
        kept = ann.client.cookies["abacus-said"]
        ben.client.cookies.set("abacus-said", kept, domain="console.example", path="/")
        assert (await ben.twin("/door?x=1")).json()["said"] is None


@pytest.mark.parametrize("changed", ["", ".", "x", "é.é", "other text", "other token"])
def test_nobody_else_says_anything(changed: str) -> None:
    kept = sealed("done", "token", Use.SAID)
    assert unsealed(kept, "token", Use.SAID) == "done"
    forged = base64.urlsafe_b64encode(json.dumps("<b>").encode()).decode() + kept[kept.index(".") :]
    given = {"other text": forged, "other token": sealed("done", "another", Use.SAID)}.get(changed, changed)
    assert unsealed(given, "token", Use.SAID) is None
