"""Dashboards and alerts name metrics and labels that exist and leave none out; each alert has a runbook and tests."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import prometheus_client
import pytest
import yaml

from abacus.oversight.status.decide.alert_levels import ALERT_LEVELS
from tests.docs.exposition import labels
from tests.support.documents import headings
from tests.support.metric_lists import metric_lists
from tests.support.paths import DOCS

MONITORING: Final = DOCS / "operate" / "monitoring"
DASHBOARDS: Final = sorted(MONITORING.glob("*.json"))
RULES: Final[list[dict[str, Any]]] = [
    rule
    for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
TESTS: Final[list[dict[str, Any]]] = yaml.safe_load((MONITORING / "alerts_test.yaml").read_text("utf-8"))["tests"]

PUBLISHED: Final = "https://docs.example.com/abacus/"  # stands for the address of docs/

# Metrics that neither a dashboard nor an alert uses, each with the reason.
UNSHOWN: Final[dict[str, str]] = {}

OF_PROMETHEUS: Final = {"job", "instance", "le"}
PARTS: Final = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_sum", "_count"),
}
_SELECTOR: Final = re.compile(r"\b(abacus_\w+)(?:\{([^}]*)\})?")
_MATCHED: Final = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_GROUPED: Final = re.compile(r"\b(?:by|without|on|ignoring) ?\(([^)]*)\)")


class Expression(NamedTuple):
    """A PromQL expression, and where it stands."""

    place: str
    text: str


@cache
def samples() -> Mapping[str, str]:
    """The names that Prometheus reads from `/metrics`, and the metric that each is of."""
    metric_lists()  # a process has the metrics of the lists that it loads
    families = [each for each in prometheus_client.REGISTRY.collect() if each.name.startswith("abacus_")]
    return {each.name + part: each.name for each in families for part in PARTS[each.type]}


def _expressions() -> Iterator[Expression]:
    for rule in RULES:
        yield Expression(rule["alert"], rule["expr"])
    for dashboard in DASHBOARDS:
        for panel in json.loads(dashboard.read_text(encoding="utf-8"))["panels"]:
            for target in panel.get("targets", []):
                yield Expression(f"{dashboard.stem}: {panel['title']}", target["expr"])


EXPRESSIONS: Final = list(_expressions())


def test_the_metrics_are_read_as_they_are_declared() -> None:
    assert set(samples().values()) == set(labels())


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool; `make monitoring` needs it")
def test_prometheus_finds_no_fault_in_what_is_exposed() -> None:
    shown = subprocess.check_output([sys.executable, "-m", "tests.docs.exposition"])
    assert shown.count(b"# TYPE abacus_") >= len(labels())
    checked = subprocess.run(["promtool", "check", "metrics"], input=shown, capture_output=True, check=False)  # noqa: S607  # the one of the path
    assert (checked.returncode, checked.stderr.decode()) == (0, "")


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=lambda each: each.place)
def test_metrics_and_labels_exist(expression: Expression) -> None:
    known, declared = samples(), labels()
    selected = _SELECTOR.findall(expression.text)
    assert [name for name, _ in selected if name not in known] == []
    allowed: set[str] = set(OF_PROMETHEUS)
    for name, matchers in selected:
        of_metric = declared[known[name]] | OF_PROMETHEUS
        assert set(_MATCHED.findall(re.sub(r'"[^"]*"', "", matchers))) <= of_metric
        allowed |= of_metric
    assert {label for group in _GROUPED.findall(expression.text) for label in re.findall(r"\w+", group)} <= allowed


def test_no_metric_is_forgotten() -> None:
    known = samples()
    shown = {known[name] for each in EXPRESSIONS for name, _ in _SELECTOR.findall(each.text) if name in known}
    assert sorted(set(labels()) - shown - UNSHOWN.keys()) == []
    assert sorted(UNSHOWN.keys() & shown) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_each_alert_has_a_runbook_and_both_tests(rule: dict[str, Any]) -> None:
    page, _, anchor = rule["annotations"]["runbook_url"].removeprefix(PUBLISHED).partition("#")
    assert anchor == rule["alert"].lower()
    assert anchor in headings(DOCS / page)
    section = (DOCS / page).read_text(encoding="utf-8").partition(f"## {rule['alert']}\n")[2].partition("\n#")[0]
    assert re.findall(r"^- \*\*(.+?)\.\*\*", section, re.MULTILINE) == ["Symptom", "Means", "Look at", "Do"]
    outcomes = {
        bool(case["exp_alerts"])
        for test in TESTS
        for case in test["alert_rule_test"]
        if case["alertname"] == rule["alert"]
    }
    assert outcomes == {True, False}
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert (
        set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        <= {label for group in _GROUPED.findall(rule["expr"]) for label in re.findall(r"\w+", group)} | OF_PROMETHEUS
    )


@pytest.mark.parametrize(("alert", "level"), ALERT_LEVELS.items())
def test_pages_draw_the_line_where_the_alert_begins(alert: str, level: int) -> None:
    (rule,) = [each for each in RULES if each["alert"] == alert]
    assert rule["expr"].endswith(f" > {level}")


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_asks_for_its_data_source(dashboard: Path) -> None:
    board = json.loads(dashboard.read_text(encoding="utf-8"))
    assert [each["type"] for each in board["templating"]["list"]] == ["datasource"]
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert {panel["datasource"]["uid"] for panel in panels} == {"${datasource}"}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in panels)
