"""Campaigns that would set each other off are found, whatever stands between."""

from collections.abc import Mapping

import pytest

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.decide.cycles import cycle_through
from tests.support.campaigns import REWARDS, campaign, publications, publishing


def by(name: str, on: str, type_: str) -> Campaign:
    return doing(name, on, {"publish": {"type": type_, "var": {"city": "Bedok"}}})


def doing(name: str, on: str, *do: Mapping[str, object]) -> Campaign:
    return parse_campaign({**publishing(name, on, PRAISED), "steps": [{"do": list(do)}]}, publications())


def granting(name: str, on: str, reward: str) -> Campaign:
    return doing(name, on, {"grant": {"reward": reward}})


DONE, CANCELLED, PRAISED = "rides/ride.done", "rides/ride.cancelled", "rides/ride.praised"
EARNED = "points/abacus.points.earned.v1"


@pytest.mark.parametrize(
    ("draft", "others", "stops"),
    [
        (by("a", PRAISED, PRAISED), [], ["a", "a"]),
        (by("a", DONE, PRAISED), [by("b", PRAISED, DONE)], ["a", "b", "a"]),
        (granting("a", DONE, "miles"), [by("b", EARNED, DONE)], ["a", "the reward miles", "b", "a"]),
        (by("a", EARNED, PRAISED), [granting("b", PRAISED, "miles")], ["a", "b", "the reward miles", "a"]),
        (granting("a", DONE, "coffee"), [by("b", EARNED, DONE)], None),  # it is a code
        (granting("a", DONE, "miles"), [by("b", EARNED, PRAISED)], None),
        (
            by("a", DONE, PRAISED),
            [by("b", PRAISED, CANCELLED), by("c", CANCELLED, DONE), by("d", PRAISED, PRAISED)],
            ["a", "b", "c", "a"],
        ),
        (by("a", DONE, PRAISED), [by("b", PRAISED, CANCELLED)], None),
        (by("a", DONE, PRAISED), [by("b", PRAISED, PRAISED)], None),  # the other was there before
        (
            campaign(name="a", on=["points/abacus.points.earned.v1"], when=None),
            [],
            ["a", "a"],
        ),
    ],
)
def test_the_way_back(draft: Campaign, others: list[Campaign], stops: list[str] | None) -> None:
    cycle = cycle_through(draft, others, REWARDS)
    assert (None if cycle is None else cycle.stops) == stops


@pytest.mark.parametrize(
    ("do", "path"),
    [
        ([{"grant": {"reward": "coffee"}}, {"grant": {"reward": "miles"}}], "steps[0].do[1].grant.reward"),
        ([{"award": {"points": 5}}], "steps[0].do[0].award"),
    ],
)
def test_the_deed_by_which_it_begins_is_named(do: list[dict[str, object]], path: str) -> None:
    cycle = cycle_through(doing("a", DONE, *do), [by("b", EARNED, DONE)], REWARDS)
    assert cycle is not None
    assert cycle.path == path
