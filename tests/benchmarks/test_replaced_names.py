"""Processes of benchmarks put something else in the place of a name of the product: the product has that name."""

from abacus.api.entrance import Entrance
from abacus.api.offers import routes, wiring
from benchmarks import offers_by_framework, offers_in_process


def test_the_hot_routes_have_the_name_that_is_replaced() -> None:
    assert vars(routes)[offers_by_framework.REPLACED] is routes.HOT


def test_the_entrance_of_the_offers_has_the_name_that_is_replaced() -> None:
    assert vars(wiring)[offers_in_process.REPLACED] is Entrance
