"""The image is built on one base, which whoever builds it may name by its digest."""

import re

from tests.support.paths import DOCS, ROOT


def test_every_stage_is_built_on_the_base_that_is_named() -> None:
    """A digest that only one of the stages took would leave the other to a tag."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    before, _, stages = text.partition("\nFROM ")
    assert re.findall(r"^ARG BASE=(\S+)$", before, re.MULTILINE) == ["python:3.13-slim"]
    assert re.findall(r"^FROM (\S+)", f"FROM {stages}", re.MULTILINE) == ["${BASE}", "${BASE}"]
    assert "--build-arg BASE=python:3.13-slim@sha256:" in (DOCS / "operate/deploy.md").read_text(encoding="utf-8")
