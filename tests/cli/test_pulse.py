"""`abacus pulse`: points a minute, as JSON and as a table."""

from datetime import timedelta

from abacus.core.clock import SystemClock
from abacus.intake.pulse.decide.steps import begin_of
from abacus.intake.pulse.store import PulseStore
from abacus.intake.pulse.types import Step, Sum
from abacus.platform.postgres import Pool
from tests.support.commands import abacus


async def test_points_of_a_country_and_of_all(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    since = begin_of(Step.QUARTER, SystemClock().now()) - timedelta(minutes=30)
    await PulseStore(pool).add(
        [Sum(Step.QUARTER, since, country, 0.5, 15, points) for country, points in (("SG", 150), ("VN", 60_000))]
    )
    for more, points in (([], 4010), (["--country", "SG"], 10), (["--country", "TH"], 0)):
        told = await abacus("pulse", "--range", "day", *more, "--json", env=env)
        assert (told.code, len(told.json), sum(each["points"] for each in told.json)) == (0, 96, points)
    table = await abacus("pulse", "--range", "day", env=env)
    assert (table.code, "4,010" in table.out, "0.5 s" in table.out) == (0, True, True)
    assert (await abacus("pulse", "--range", "century", env=env)).code == 2
