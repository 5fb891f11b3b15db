"""The path is whole: every site on it has a stage, every stage has sites, and no rule or reason is left over."""

import pytest

from tests.reliability.chaos.crashes import path, unvisited
from tests.reliability.chaos.crashes.path import PATH, Stage, sites_of, stage_of
from tests.reliability.chaos.crashes.site import points_of

SITES = sites_of()


def test_every_site_has_a_stage() -> None:
    assert {stage_of(site) for site in SITES} == set(Stage)


def test_every_point_has_a_name_of_its_own() -> None:
    names = [point.name for point in points_of(SITES)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("module", PATH)
def test_every_module_on_the_path_awaits_something(module: str) -> None:
    assert sites_of([module])


def test_every_rule_is_needed() -> None:
    first = [next(rule for rule in path.RULES if rule.fits(site)) for site in SITES]
    last_word = [rule for rule in path.RULES if (rule.function, rule.text, rule.kind) == ("*", "*", None)]
    assert [rule for rule in path.RULES if rule not in first and rule not in last_word] == []


def test_every_reason_is_for_something() -> None:
    assert [reason for reason in unvisited.REASONS if not any(map(reason.fits, SITES))] == []
