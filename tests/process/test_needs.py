"""The needs that each worker declares: its code needs these services, and documents and manifests say the same."""

import ast
import inspect
import re
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import pytest

from abacus.bootstrap import Service, require_addresses
from abacus.core.errors import Refused
from abacus.platform.settings import Settings
from abacus.platform.wiring import Wiring
from tests.deployment.manifests import objects, read
from tests.support.paths import DOCS, ROOT
from workers import WORKERS, needs

# A part that a worker is wired with, and the service behind it.
BEHIND: Final = {
    "pool": Service.DATABASE,
    "publisher": Service.KAFKA,
    "following": Service.KAFKA,
    "kafka_bootstrap": Service.KAFKA,
    "sqs": Service.SQS,
    "queue": Service.SQS,
}
ADDRESSES: Final = {"database_url": "postgresql://db/abacus", "kafka_bootstrap": "kafka:9092"}


def trees_of(module: ModuleType) -> list[ast.AST]:
    """The source of a worker, and of the functions of rooms' wirings that it uses, directly or through others."""
    trees: list[ast.AST] = [ast.parse(inspect.getsource(module))]
    seen: set[Any] = set()
    waiting = [module.wire.func if isinstance(module.wire, partial) else module.wire, *functions_in(trees[0], module)]
    while waiting:
        function = waiting.pop()
        if function in seen or not function.__module__.endswith(".wiring"):
            continue
        seen.add(function)
        trees.append(ast.parse(inspect.getsource(function)))
        waiting += functions_in(trees[-1], import_module(function.__module__))
    return trees


def functions_in(tree: ast.AST, module: ModuleType) -> list[Any]:
    """The functions of the module, its own and imported ones, that this piece of it names."""
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return [each for name, each in vars(module).items() if name in named and inspect.isfunction(each)]


def test_every_file_is_a_worker_by_name() -> None:
    assert {path.stem for path in (ROOT / "workers").glob("*.py")} - {"__init__"} == set(WORKERS)


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_needs_what_it_is_wired_with(name: str) -> None:
    module = import_module(f"workers.{name}")
    nodes = [node for tree in trees_of(module) for node in ast.walk(tree)]
    parts = [
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("wiring", "settings")
    ]
    settings = [node.value for node in nodes if isinstance(node, ast.Constant)]
    declared = needs([name]) | getattr(module, "USES", frozenset())
    assert declared == {BEHIND[each] for each in (*parts, *settings) if isinstance(each, str) and each in BEHIND}


def test_what_is_behind_them_are_parts_of_the_wiring() -> None:
    assert all(hasattr(Wiring, part) for part in BEHIND.keys() - {"kafka_bootstrap"})


@pytest.mark.parametrize(
    ("names", "missing", "outcome"),
    [
        (["calculator"], [], None),
        (["calculator"], ["database_url", "kafka_bootstrap"], "ABACUS_DATABASE_URL is not set"),
        (["awarder"], ["kafka_bootstrap"], None),
        (["awarder", "relay"], ["kafka_bootstrap"], "ABACUS_KAFKA_BOOTSTRAP is not set"),
        (["api"], ["database_url"], "ABACUS_DATABASE_URL is not set"),
        ([], ["database_url", "kafka_bootstrap"], None),
    ],
)
def test_a_missing_address_is_refused_by_its_name(names: list[str], missing: list[str], outcome: str | None) -> None:
    given = {name: value for name, value in ADDRESSES.items() if name not in missing}
    try:
        require_addresses(needs(names), Settings.model_validate(given))
    except Refused as refused:
        assert str(refused) == outcome  # noqa: PT017  # the other rows raise nothing
    else:
        assert outcome is None


def test_the_document_names_those_that_need_kafka() -> None:
    (row,) = [
        line
        for line in (DOCS / "operate/settings.md").read_text("utf-8").splitlines()
        if "| `ABACUS_KAFKA_BOOTSTRAP`" in line
    ]
    assert set(re.findall(r"\w+", row)) & set(WORKERS) == {name for name in WORKERS if Service.KAFKA in needs([name])}


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_is_deployed_with_the_addresses_of_what_it_needs(name: str) -> None:
    variables = {f"ABACUS_{service.upper()}" for service in needs([name])}
    compose: dict[str, Any] = read(ROOT / "docker-compose.yml")["services"][name]["environment"]
    assert variables <= compose.keys()
    (container,) = objects("Deployment")[name]["spec"]["template"]["spec"]["containers"]
    assert {"configMapRef": {"name": "abacus"}} in container["envFrom"]
    assert {"secretRef": {"name": "abacus"}} in container["envFrom"]
    secrets = read(DOCS / "operate/kubernetes" / "secrets.example.yaml")["items"]
    (secret,) = [each["stringData"] for each in secrets if each["metadata"]["name"] == "abacus"]
    in_aws = {"ABACUS_SQS_ENDPOINT_URL"}  # no address is needed there
    assert variables - in_aws <= objects("ConfigMap")["abacus"]["data"].keys() | secret.keys()
