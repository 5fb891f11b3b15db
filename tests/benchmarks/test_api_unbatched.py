"""The API without gathering is the API but for its intake."""

from abacus.intake.partners import wiring
from abacus.intake.partners.award_intake import AwardIntake
from benchmarks.api_unbatched import REPLACED


def test_the_intake_is_built_by_the_name_that_is_replaced() -> None:
    assert vars(wiring)[REPLACED] is AwardIntake
