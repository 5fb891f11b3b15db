"""The API without gathering is the API but for its intake."""

from abacus.intake.partners import wiring
from benchmarks.api_unbatched import Unbatched


def test_the_room_builds_its_intake_by_the_name_that_is_replaced() -> None:
    (intake,) = Unbatched.__bases__
    assert vars(wiring)[intake.__name__] is intake
