"""Campaigns that would set each other off are found, however many stand between."""

import pytest

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.decide.cycles import cycle_through
from tests.support.campaigns import campaign, publications, publishing


def by(name: str, on: str, type_: str) -> Campaign:
    return parse_campaign(publishing(name, on, type_), publications())


DONE, CANCELLED, PRAISED = "rides/ride.done", "rides/ride.cancelled", "rides/ride.praised"


@pytest.mark.parametrize(
    ("draft", "others", "path"),
    [
        (by("a", PRAISED, PRAISED), [], ["a", "a"]),
        (by("a", DONE, PRAISED), [by("b", PRAISED, DONE)], ["a", "b", "a"]),
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
def test_the_way_back(draft: Campaign, others: list[Campaign], path: list[str] | None) -> None:
    assert cycle_through(draft, others) == path
