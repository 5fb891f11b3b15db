"""Categories: the tree of each country, by which offers name items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.register import DocumentPage, Register
from abacus.console.web.calls import Call
from abacus.documents.form.example import example
from abacus.engage.categories.decide.category_form import CATEGORY_FORM
from abacus.engage.categories.decide.tree import Categories, Tree
from abacus.engage.categories.kind import CATEGORIES, CategoryDesk
from abacus.pricing.decide.countries import Countries


@dataclass(frozen=True, kw_only=True)
class CategoriesPage(DocumentPage):
    """The tree that is in force, and every version."""

    template: ClassVar[str] = "categories.html"
    tree: Tree


def _beside(document: Mapping[str, Any], _: Sequence[Categories]) -> Mapping[str, Any]:
    """Each country has one tree: a copy is for another one."""
    return {**document, "country": ""}


CATEGORY_REGISTER: Final[Register[Categories, Countries]] = Register(
    drafts=DraftKind(
        kind=CATEGORIES,
        desk=lambda rooms: rooms[CategoryDesk],
        about="Offers of the country are judged by them: a category that is not among them is a fault.",
        begin=lambda _: CATEGORIES.write(example(CATEGORY_FORM)),
        beside=_beside,
        page=lambda tree: f"/categories/{tree.country}",
    ),
    title="Categories",
    about="The items of each country in three levels, by which offers name them.",
    columns={"categories": lambda tree: f"{len(tree.above):,}", "widest": lambda tree: ", ".join(tree.tree)},
)


async def categories(call: Call) -> CategoriesPage:
    shown = await CATEGORY_REGISTER.one(call)
    trees = await call.rooms[CategoryDesk].latest()
    return CategoriesPage(**vars(shown), tree=trees[shown.name].tree)
