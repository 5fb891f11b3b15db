"""The process that renders templates: its limits, what follows when it dies, and that no other rendering suffers."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence

import psutil
import pytest
from prometheus_client import REGISTRY

from abacus.core.errors import Unavailable
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.template import FilledTemplate, Unrenderable, Unwritten
from abacus.engage.notify.renderer import Renderer
from tests.support.hostile_templates import SLOW

FINE = FilledTemplate("Hi\nYou have {{ count }}.", "en", {"count": 3})
HI = Words("Hi", "You have 3.")
ENDLESS = FilledTemplate(SLOW, "en", {})
LARGE = FilledTemplate(
    "Hi\n{{ '' if event.tags | join(event.long) }}x", "en", {"event": {"tags": ("a",) * 1000, "long": "x" * 400_000}}
)
TOO_MUCH = "it takes too much time or memory"


@pytest.fixture
async def renderer() -> AsyncIterator[Renderer]:
    it = Renderer(cpu_s=0.2)
    yield it
    await it.close()


def children() -> set[int]:
    """The processes that render for this one."""
    ours = psutil.Process().children()
    return {each.pid for each in ours if "abacus.engage.notify.rendering_child" in each.cmdline()}


def said(answers: Sequence[Words | Unrenderable]) -> list[object]:
    return [each if isinstance(each, Words) else str(each) for each in answers]


def counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("abacus_renderings_total", {"outcome": outcome}) or 0.0


async def test_one_that_takes_too_long_is_stopped_and_the_others_are_rendered(renderer: Renderer) -> None:
    killed = counted("killed")
    assert said(await renderer.render([FINE, ENDLESS, FINE, ENDLESS, FINE])) == [HI, TOO_MUCH, HI, TOO_MUCH, HI]
    assert counted("killed") == killed + 1  # the second time it was not tried


async def test_one_that_was_stopped_is_not_tried_again(renderer: Renderer) -> None:
    await renderer.render([FINE, ENDLESS])
    await renderer.render([FINE])
    (process,) = children()
    assert said(await renderer.render([ENDLESS, ENDLESS, FINE])) == [TOO_MUCH, TOO_MUCH, HI]
    assert children() == {process}


async def test_memory_is_bounded(renderer: Renderer) -> None:
    """The same process goes on."""
    await renderer.render([FINE])
    (process,) = children()
    assert said(await renderer.render([LARGE, FINE])) == ["it does not render: MemoryError", HI]
    assert children() == {process}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
async def test_a_process_that_died_is_replaced(renderer: Renderer, number: signal.Signals) -> None:
    """Nothing is refused because somebody killed it."""
    assert said(await renderer.render([FINE])) == [HI]
    (process,) = children()
    os.kill(process, number)
    assert said(await renderer.render([FINE] * 300)) == [HI] * 300
    assert process not in children()


async def test_a_process_that_is_silent_is_replaced() -> None:
    """It reads no more either: a frame of this size does not fit into the pipe."""
    renderer = Renderer(answers_within_s=0.5)
    await renderer.render([FINE])
    (process,) = children()
    os.kill(process, signal.SIGSTOP)
    large = FilledTemplate(FINE.template, "en", {"count": 3, "more": "x" * 200_000})
    assert said(await renderer.render([large, FINE])) == [HI, HI]
    assert process not in children()
    await renderer.close()


async def test_a_call_that_is_cut_off_leaves_no_answer_behind(renderer: Renderer) -> None:
    other = FilledTemplate("Hello\nThere", "en", {})
    cut_off = asyncio.create_task(renderer.render([other] * 200_000))
    await asyncio.sleep(0.1)
    cut_off.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cut_off
    assert said(await renderer.render([FINE, other])) == [HI, Words("Hello", "There")]


async def test_the_loop_goes_on_meanwhile(renderer: Renderer) -> None:
    rendering, turns = asyncio.create_task(renderer.render([ENDLESS])), 0
    while not rendering.done():
        await asyncio.sleep(0)
        turns += 1
    assert said(await rendering) == [TOO_MUCH]
    assert turns > 100


async def test_a_trial_looks_at_each_branch(renderer: Renderer) -> None:
    seldom = FilledTemplate("Hi\n{% if count > 99 %}{{ cuont }}{% endif %}x", "en", {"count": 1})
    assert said(await renderer.render([seldom])) == [Words("Hi", "x")]
    (fault,) = await renderer.render([seldom], is_trial=True)
    assert isinstance(fault, Unwritten)
    assert str(fault) == "'cuont' is no field; there are count"


async def test_it_knows_no_secret(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABACUS_DATABASE_URL", "postgresql://user:secret@host/db")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    await renderer.render([FINE])
    (process,) = children()
    assert not {name for name in psutil.Process(process).environ() if name.startswith(("ABACUS", "AWS"))}


async def test_it_ends_with_the_renderer() -> None:
    renderer = Renderer()
    await renderer.render([FINE])
    assert children()
    await renderer.close()
    assert not children()


async def test_a_process_that_does_not_start_is_a_dependency_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    renderer = Renderer()
    with pytest.raises(Unavailable, match="the process that renders messages does not start"):
        await renderer.render([FINE])
