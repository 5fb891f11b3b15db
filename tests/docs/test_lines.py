"""Prose in the documents has lines of at most 120 characters; tables, code and headings are as long as they are."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.documents import documents
from tests.support.paths import ROOT

LONGEST: Final = 120
_AS_LONG_AS_IT_IS: Final = re.compile(r"\||#|    |<!--")


def long_lines(page: Path) -> Iterator[str]:
    fenced = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and len(line) > LONGEST and " " in line.strip() and not _AS_LONG_AS_IT_IS.match(line):
            yield line


@pytest.mark.parametrize("page", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_prose_is_wrapped(page: Path) -> None:
    assert list(long_lines(page)) == []


@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("word " * 30, True),
        ("| " + "word " * 30 + "|", False),
        ("    " + "word " * 30, False),
        ("```\n" + "word " * 30 + "\n```", False),
        ("- " + "word " * 30, True),
        ("word " * 20, False),
    ],
)
def test_what_has_to_be_wrapped(tmp_path: Path, text: str, *, long: bool) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    assert bool(list(long_lines(page))) is long
