"""The client stands alone, and still says the same as the house."""

import ast
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import abacus
from abacus.core import ids
from abacus.intake.partners.decide import signature as theirs
from abacus_client import calls
from abacus_client import signature as ours
from abacus_client.version import VERSION
from tests.support.paths import ROOT

DISTRIBUTION = ROOT / "client"
PACKAGE = DISTRIBUTION / "abacus_client"
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def _imported(module: Path) -> set[str]:
    """The packages whose names stand in the imports of this file."""
    nodes = list(ast.walk(ast.parse(module.read_text("utf-8"))))
    absolute = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    absolute |= {node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in absolute}


@pytest.mark.parametrize("module", sorted(PACKAGE.rglob("*.py")), ids=lambda module: module.stem)
def test_it_imports_httpx_and_nothing_else(module: Path) -> None:
    assert _imported(module) - sys.stdlib_module_names <= {"abacus_client", "httpx"}


def test_it_declares_what_it_imports() -> None:
    project = tomllib.loads((DISTRIBUTION / "pyproject.toml").read_text("utf-8"))["project"]
    house = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (dependency,) = project["dependencies"]
    assert dependency in house["dependencies"]  # the same version, so that the tests hold for both
    assert {name: project[name] for name in ("license", "requires-python")} == {
        name: house[name] for name in ("license", "requires-python")
    }


def test_it_is_released_with_the_house() -> None:
    assert abacus.__version__ == VERSION


def test_the_keys_that_it_sends_are_those_that_the_api_takes() -> None:
    assert calls.IDEMPOTENCY_KEY_PATTERN == ids.IDEMPOTENCY_KEY_PATTERN


@given(
    secret=st.text(min_size=1),
    method=st.sampled_from(["GET", "post", "PUT"]),
    path=st.text(),
    key=st.from_regex(ids.IDEMPOTENCY_KEY_PATTERN) | st.just(""),
    body=st.binary(),
)
def test_what_it_signs_the_api_accepts(secret: str, method: str, path: str, key: str, body: bytes) -> None:
    timestamp = int(NOW.timestamp())
    signature = ours.sign(secret, method, path, body, key=key, timestamp=timestamp)
    assert signature == theirs.sign(secret, method, path, body, key=key, timestamp=timestamp)
    theirs.check_signature(secret, theirs.SignedRequest(method, path, key, body, str(timestamp), signature), NOW)


def test_the_signature_travels_in_the_headers_that_the_api_reads() -> None:
    assert (ours.SIGNATURE_HEADER, ours.TIMESTAMP_HEADER) == (theirs.SIGNATURE_HEADER, theirs.TIMESTAMP_HEADER)
