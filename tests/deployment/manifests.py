"""The deployment as its YAML says it, and checks of it against the code."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import prometheus_client
import pytest
import typer
import yaml
from typer.core import TyperGroup

from abacus.cli.main import app
from abacus.platform.settings import PREFIX, Settings, read_settings
from tests.support.metric_lists import declared_metrics
from tests.support.paths import ROOT

KUBERNETES: Final = ROOT / "docs" / "operate" / "kubernetes"
COUNTED: Final = "_total"  # Prometheus adds these to the name of a metric


@cache
def read(path: Path) -> Any:
    """The objects of a file, never to be changed: each file is parsed once for all tests."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def objects(kind: str) -> dict[str, Any]:
    """Everything of a kind that the kustomizations apply, by its name."""
    return {
        each["metadata"]["name"]: each
        for folder in (KUBERNETES, KUBERNETES / "setup")
        for resource in read(folder / "kustomization.yaml")["resources"]
        for each in _unpacked(read(folder / resource))
        if each["kind"] == kind
    }


def _unpacked(document: Any) -> Iterator[Any]:
    if document["kind"] == "List":
        yield from document["items"]
    else:
        yield document


def parsed_by_the_command_line(arguments: Sequence[str]) -> None:
    """Raises when there is no such command, or it has no such option. Runs nothing."""
    command: Any = typer.main.get_command(app)
    left, names = list(arguments), ["abacus"]
    while isinstance(command, TyperGroup):
        names.append(left.pop(0))
        subcommand = command.get_command(command.context_class(command), names[-1])
        if subcommand is None:
            raise LookupError(f"there is no command {' '.join(names)}")
        command = subcommand
    command.make_context(" ".join(names), left)


def taken_as_settings(environment: Mapping[str, str], patch: pytest.MonkeyPatch) -> None:
    """Raises when a variable is no setting of ours, or its value is wrong."""
    ours = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
    assert ours
    for name, value in ours.items():
        assert name.removeprefix(PREFIX).lower() in Settings.model_fields, name
        patch.setenv(name, value)
    read_settings()


def metric_names() -> set[str]:
    """The names of all metrics as Prometheus knows them."""
    ours = [each for each in declared_metrics() if isinstance(each, prometheus_client.metrics.MetricWrapperBase)]
    return {sample.name for metric in ours for family in metric.collect() for sample in (family,)} | {
        family.name + COUNTED for metric in ours for family in metric.collect() if family.type == "counter"
    }
