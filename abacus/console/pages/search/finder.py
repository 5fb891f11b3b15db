"""What a capability brings to the search: how it finds its things by what a person typed."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from abacus.console.web.calls import Call
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import DocumentKind
from abacus.people.types.deed import Deed


@dataclass(frozen=True)
class Found:
    """A thing by its kind and name, what it is called, and a few words on it. `exact`: it is what was typed."""

    kind: str
    name: str
    title: str
    detail: str = ""
    exact: bool = False


# By what was typed, this many at most; raises `Unavailable`.
Find: TypeAlias = Callable[[Call, str, int], Awaitable[Sequence[Found]]]


@dataclass(frozen=True)
class Finder:
    """For people who may do the deed in some country, whose countries `find` keeps to, or everywhere."""

    noun: str
    find: Find
    deed: Deed = Deed.SEE
    everywhere: bool = False

    def is_open_to(self, call: Call) -> bool:
        return call.is_open(self.deed, everywhere=self.everywhere)


def name_finder(
    noun: str,
    things: Callable[[Call], Awaitable[Iterable[Found]]],
    deed: Deed = Deed.SEE,
    *,
    everywhere: bool = False,
) -> Finder:
    """Finds things by a part of their name or title, among all that are open to the person."""

    async def find(call: Call, text: str, most: int) -> Sequence[Found]:
        found = []
        for each in await things(call):
            wanted = text.casefold().removeprefix(f"{each.kind}:")
            if wanted in each.name.casefold() or wanted in each.title.casefold():
                found.append(replace(each, exact=each.name.casefold() == wanted))
        return found[:most]

    return Finder(noun, find, deed, everywhere)


def document_finder(noun: str, kind: DocumentKind[Any, Any], desk: Callable[[Call], DocumentDesk[Any, Any]]) -> Finder:
    """Of documents without countries."""

    async def things(call: Call) -> Iterable[Found]:
        names = sorted(kind.name(each.document) for each in await desk(call).records())
        return [Found(kind.subject, each, each) for each in names]

    return name_finder(noun, things, everywhere=True)
