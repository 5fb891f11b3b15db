"""The first page's charts: points a minute and how long they took, of the countries that the person sees."""

from datetime import timedelta

import pytest

from abacus.intake.pulse.decide.steps import begin_of
from abacus.intake.pulse.store import PulseStore
from abacus.intake.pulse.types import Step, Sum
from abacus.platform.postgres import Pool
from tests.console.desk import Desk, desk


async def posted(open_desk: Desk) -> None:
    minute = begin_of(Step.MINUTE, open_desk.clock.now()) - timedelta(minutes=1)
    quarter = begin_of(Step.QUARTER, open_desk.clock.now()) - timedelta(minutes=15)
    await PulseStore(open_desk.pool).add(
        [
            Sum(step, since, country, 0.5, 30 * minutes, points * minutes)
            for step, since, minutes in ((Step.MINUTE, minute, 1), (Step.QUARTER, quarter, 15))
            for country, points in (("SG", 300), ("VN", 4000))
        ]
    )


@pytest.mark.parametrize(("query", "range_", "steps"), [("", "hour", 60), ("?range=week", "week", 672)])
@pytest.mark.parametrize(("roles", "points"), [(("viewer",), 4300), (("viewer:VN",), 4000), (("viewer:TH",), 0)])
async def test_points_a_minute(  # noqa: PLR0917  # a table of two parameters
    pool: Pool, query: str, range_: str, steps: int, roles: tuple[str, ...], points: int
) -> None:
    async with desk(pool) as open_desk:
        await posted(open_desk)
        ann = await open_desk.inside("ann", *roles)
        shown = (await ann.twin(f"/{query}")).json()
        pulse = shown["pulse"]["value"]
        assert (shown["command"], pulse["range"], len(pulse["beats"])) == (
            f"abacus pulse --range {range_}",
            range_,
            steps,
        )
        assert pulse["beats"][-2]["points"] == points
        assert pulse["beats"][-2]["half_s"] == (0.5 if points else None)
        page = (await ann.see(f"/{query}")).text
        assert ("data-chart" in page, "No points came." in page) == (points > 0, points == 0)


async def test_an_unknown_range_is_an_hour(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        assert (await ann.twin("/?range=century")).json()["pulse"]["value"]["range"] == "hour"
