"""The API without gathering is the API but for its intake."""

from benchmarks.api_unbatched import Unbatched
from workers import api


def test_the_worker_builds_its_intake_by_the_name_that_is_replaced() -> None:
    (intake,) = Unbatched.__bases__
    assert vars(api)[intake.__name__] is intake
