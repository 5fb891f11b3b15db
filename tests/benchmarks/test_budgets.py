import json

from benchmarks.budget_requests import ROUTES
from benchmarks.budgets import BUDGETS, Cost, figures


def test_each_route_has_a_budget_and_each_budget_a_route() -> None:
    assert set(json.loads(BUDGETS.read_text())) == {route.name for route in ROUTES}


def test_a_route_that_costs_one_and_a_half_times_its_budget_fails_the_run() -> None:
    (within, beyond) = figures({"GET /a": Cost(150.0, 15.0), "GET /b": Cost(151.0, 15.1)}, {"GET /a": 10, "GET /b": 10})
    assert (within.reached, beyond.reached) == (True, False)
    assert within.anywhere, "it is judged on every machine, and in short"
    assert beyond.ratio == "1.51 times its budget of 10 units"
