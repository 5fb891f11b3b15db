"""The marked source does what the source does, and passes a point on each side of everything that it awaits."""

import ast
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.reliability.chaos.crashes import hook
from tests.reliability.chaos.crashes.site import CROSSED, PASSED, WALKED, Kind, marked, sites_in

HEAD = "async def f():\n    "


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("return 1", []),
        ("await g()", [Kind.AWAIT]),
        ("return await g(await h())", [Kind.AWAIT, Kind.AWAIT]),
        ("async with g() as x, h(): pass", [Kind.ENTER, Kind.LEAVE, Kind.ENTER, Kind.LEAVE]),
        ("async for x in g(): pass", [Kind.NEXT]),
        ("return [x async for x in g()]", [Kind.NEXT]),
        ("return lambda: g()", []),
    ],
)
def test_what_is_a_site(body: str, kinds: list[Kind]) -> None:
    sites = sites_in("m", HEAD + body)
    assert [site.kind for site in sites] == kinds
    assert {site.function for site in sites} <= {"f"}


def test_names_tell_sites_apart() -> None:
    sites = sites_in("m", "class A:\n    async def f(self):\n        return await g() + await g()\n")
    assert [site.name for site in sites] == ["m:A.f:3.15 await", "m:A.f:3.27 await"]


@asynccontextmanager
async def within(told: list[str]) -> AsyncIterator[str]:
    told.append("begin")
    try:
        yield "connection"
    except ValueError:
        told.append("rollback")
        raise
    told.append("commit")


async def said(told: list[str], word: str) -> str:
    told.append(word)
    return word


async def counted() -> AsyncIterator[int]:
    yield 1
    yield 2


IN, OUT = "enter before, begin, enter after", "leave before, commit, leave after"
SOURCE = """
async def post():
    async with within(told) as connection:
        return await said(told, "insert " + connection)

async def fail():
    async with within(told):
        raise ValueError("bad")

async def sums():
    total = sum([each async for each in counted()])
    async for each in counted():
        total += each
    return total
"""


@pytest.mark.parametrize(
    ("function", "outcome", "passed"),
    [
        (
            "post",
            "insert connection",
            f"{IN}, await before, insert connection, await after, {OUT}",
        ),
        ("fail", ValueError, "enter before, begin, enter after, leave before, rollback, leave after"),
        ("sums", 6, ", ".join(["next before, next after"] * 6)),
    ],
)
def test_it_does_the_same_and_passes_the_points(
    function: str, outcome: object, passed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    def note(point: str) -> None:
        told.append(" ".join(point.split()[1:]))

    monkeypatch.setattr(hook, "passed", note)
    names: dict[str, Any] = {"told": told, "within": within, "said": said, "counted": counted}
    names |= {PASSED: note, CROSSED: hook.Crossed, WALKED: hook.walked}
    tree, _ = marked("m", SOURCE)
    exec(compile(tree, "m", "exec"), names)  # noqa: S102  # the test is about how it runs
    if isinstance(outcome, type):
        with pytest.raises(ValueError, match="bad"):
            asyncio.run(names[function]())
    else:
        assert asyncio.run(names[function]()) == outcome
    assert ", ".join(told) == passed


def test_what_was_marked_can_be_written_out_again() -> None:
    tree, sites = marked("m", SOURCE)
    assert all(ast.unparse(tree).count(repr(f"{site.name}")[1:-1]) for site in sites)
