"""The process that hot routes are compared with takes the place of a name: the module has that name."""

from abacus.api.offers import routes
from benchmarks.offers_by_framework import REPLACED


def test_the_hot_routes_have_the_name_that_is_replaced() -> None:
    assert vars(routes)[REPLACED] is routes.HOT
