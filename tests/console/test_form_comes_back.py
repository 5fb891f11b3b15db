"""A form that cannot be taken comes back on the page that shows it, with what was typed and what is wrong with it."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from abacus.console.web.calls import Call
from abacus.console.web.page import Page, Said, See
from abacus.console.web.routes import form, page
from abacus.core.errors import Refused
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from tests.console.desk import desk, token_in


@dataclass(frozen=True, kw_only=True)
class Shelf(Page):
    """Which book the form and the address name."""

    template: ClassVar[str] = "members.html"
    book: str | None


async def shown(call: Call) -> Page:
    return Shelf(title="Shelf", book=call.given("book"))


async def put(call: Call) -> See:
    match call.form.get("what"):
        case "field":
            raise call.wrong(book="It is not there.")
        case "whole":
            raise call.wrong("The shelf is full.")
        case "refused":
            raise Refused("it is lent")
        case "undecided":
            raise CannotDecide("not-pending", "it was decided")
        case "right":
            call.check(Deed.MANAGE_PEOPLE, None)
    return See("/shelf", Said("It is there."))


PAGES = (page("/shelf", shown), form("/shelf", put, shows=shown))


@pytest.mark.parametrize(
    ("what", "status", "wrong", "fault"),
    [
        ("field", 422, {"book": "It is not there."}, None),
        ("whole", 422, {}, "The shelf is full."),
        ("refused", 422, {}, "it is lent"),
        ("undecided", 422, {}, "it was decided"),
        ("right", 403, None, None),
        ("good", 303, None, None),
    ],
)
async def test_what_was_typed_stays(
    pool: Pool, what: str, status: int, wrong: dict[str, str] | None, fault: str | None
) -> None:
    async with desk(pool, more=PAGES) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        typed = {"form": token_in((await ann.see("/me")).text), "what": what, "book": "B-1"}
        sent = await ann.client.post("/shelf?book=B-2", data=typed, headers={"Accept": "application/json"})
        assert sent.status_code == status
        if wrong is not None:
            back = sent.json()
            assert (back["book"], back["form"]["wrong"], back["fault"]) == ("B-1", wrong, fault)
            assert back["form"]["typed"] == {"what": what, "book": "B-1"}
