"""Texts are corrected in place: who is inside is told what the newest correction of its version says."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from abacus.core.clock import SystemClock
from abacus.engage.actions.decide.deeds import Tell
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.corrected_versions import CorrectedVersions
from abacus.engage.journeys.decide.correction import corrects
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.node import Do
from abacus.engage.journeys.directory import JourneyDirectory
from abacus.engage.journeys.journey_store import JourneyStore, JourneyVersions
from abacus.engage.journeys.kind import JOURNEYS
from abacus.platform.postgres import Pool
from tests.engage.campaigns.offers import SOURCES
from tests.engage.journeys.examples import AROUND, document, journey
from tests.engage.journeys.test_walks import Versions
from tests.support.agreed import agree

FIRST, SECOND, THIRD = ("Welcom\nto us", "Welcome\nto us", "Welcome\nto all of us")


def says(text: str, **changes: Any) -> dict[str, Any]:
    """The fields of a journey whose first message has this text."""
    written = document()["nodes"]
    return {"nodes": {**written, "hello": {**written["hello"], "do": {"tell": {"en": text}}}}, **changes}


def told_by(of: Journey) -> str:
    part = of.nodes["hello"].part
    assert isinstance(part, Do)
    assert isinstance(part.deed, Tell)
    return part.deed.templates["en"]


OTHER_WAIT = {**document()["nodes"]["second"], "wait": {**document()["nodes"]["second"]["wait"], "for": "3d"}}


def test_a_version_with_other_texts_alone_is_a_correction() -> None:
    assert corrects(journey(1, **says(FIRST)), journey(2, **says(SECOND, about="As it should be.")))


@pytest.mark.parametrize(
    "other",
    [
        journey(2, **says(SECOND, priority=7)),
        journey(2, nodes={**says(SECOND)["nodes"], "second": OTHER_WAIT}),
        journey(2, nodes={**says(SECOND)["nodes"], "remind": {"do": {"award": {"points": 1}}, "next": "done"}}),
    ],
)
def test_a_version_that_does_something_else_corrects_nothing(other: Journey) -> None:
    assert not corrects(journey(1, **says(FIRST)), other)


def test_a_version_whose_nodes_have_other_numbers_corrects_nothing() -> None:
    other = journey(2, **says(SECOND))
    shifted = {name: node._replace(number=node.number + 1) for name, node in other.nodes.items()}
    assert not corrects(journey(1, **says(FIRST)), replace(other, nodes=shifted))


async def test_the_newest_correction_is_told_also_past_a_version_that_does_something_else() -> None:
    approved: dict[str, Sequence[int]] = {"welcome": (1, 2, 3)}
    known = [journey(1, **says(FIRST)), journey(2, **says(SECOND)), journey(3, **says(FIRST, priority=7))]
    versions = CorrectedVersions(Versions(*known, journey(4, **says(THIRD))).of, lambda name: approved.get(name, ()))
    first = await versions.of("welcome", 1)
    assert (first.version, told_by(first)) == (1, SECOND)
    assert told_by(await versions.of("welcome", 3)) == FIRST
    assert await versions.of("welcome", 1) is first, "nothing is compared again"
    approved["welcome"] = (1, 2, 3, 4)
    assert told_by(await versions.of("welcome", 1)) == THIRD
    assert told_by(await versions.of("welcome", 4)) == THIRD


async def test_a_version_that_was_armed_takes_its_corrections() -> None:
    approved: list[Sequence[int]] = [(1,)]
    versions = CorrectedVersions(
        Versions(journey(1, **says(FIRST)), journey(2, **says(SECOND))).of, lambda _: approved[-1]
    )
    armed = ArmedVersions(versions.of, lambda: AROUND)
    before = await armed.of("welcome", 1)
    assert await armed.of("welcome", 1) is before
    approved.append((1, 2))
    assert told_by((await armed.of("welcome", 1)).journey) == SECOND


async def test_processes_know_the_corrections_that_were_approved(pool: Pool) -> None:
    ends = (SystemClock().now() + timedelta(days=30)).isoformat()
    store = JourneyStore(pool)
    stored = JourneyVersions(store)
    directory = JourneyDirectory(pool, stored, SOURCES.values(), SystemClock())
    versions = CorrectedVersions(stored.of, lambda name: directory.value().approved.get(name, ()))
    for text, told in ((FIRST, FIRST), (SECOND, SECOND)):
        await agree(pool, JOURNEYS, store, journey(**says(text, ends_at=ends)), AROUND)
        await directory.refresh()
        assert told_by(await versions.of("welcome", 1)) == told
