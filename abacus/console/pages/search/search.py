"""One search over members, transfers, campaigns, approvals and all other things, and what the person saw of late."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.pages.search.finder import Found
from abacus.console.pages.search.finders import FoundGroup, found
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form
from abacus.console.web.page import Page
from abacus.console.web.seen import Seen
from abacus.people.types.deed import Deed

_MOST: Final = 20
_MOST_SUGGESTED: Final = 4
_LONGEST: Final = 200


@dataclass(frozen=True, kw_only=True)
class SearchPage(Page):
    """What was found, by room, and the one thing that is exactly what was typed."""

    template: ClassVar[str] = "search.html"
    wanted: str
    exact: Found | None = None
    groups: Sequence[FoundGroup] = ()
    seen: Sequence[Seen] = ()
    may_look_everywhere: bool = False


@dataclass(frozen=True, kw_only=True)
class Suggestions(SearchPage):
    """The first of each room, for a list below the field."""

    template: ClassVar[str] = "suggestions.html"


async def search(call: Call) -> SearchPage:
    wanted = call.asked("q") or ""
    if len(wanted) > _LONGEST:
        form = Form({"q": wanted}).but(q=f"At most {_LONGEST} characters.")
        return SearchPage(title="Search", wanted="", form=form, seen=call.seen)
    groups = await found(call, wanted, _MOST) if wanted else ()
    return SearchPage(
        title="Search",
        command=f"abacus where {shlex.quote(wanted)}" if wanted else None,
        wanted=wanted,
        exact=_exact(groups),
        groups=groups,
        seen=call.seen,
        may_look_everywhere=call.may(Deed.SEE, None),
        form=Form({"q": wanted}),
    )


async def suggestions(call: Call) -> Suggestions:
    wanted = (call.asked("q") or "")[:_LONGEST]
    groups = await found(call, wanted, _MOST_SUGGESTED) if wanted else ()
    return Suggestions(title="Suggestions", wanted=wanted, exact=_exact(groups), groups=groups)


def _exact(groups: Sequence[FoundGroup]) -> Found | None:
    """None where several things are called so."""
    all_ = [each for group in groups for each in group.found.value or () if each.exact]
    return all_[0] if len(all_) == 1 else None
