"""The paths, definitions and links that documents name exist."""

import re
from pathlib import Path
from typing import Final

import pytest

from tests.support.documents import anchors, defines, documents, exists, headings, links, places
from tests.support.paths import DOCS, ROOT

ARCHITECTURE = DOCS / "develop" / "architecture.md"
_PAGE: Final = re.compile(r"(?<![\w./-])docs/(?:[\w-]+/)*[\w-]+\.md|(?<![\w./-])docs/adr/\d{4}")


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_and_names_exist(document: Path) -> None:
    named = set(places(document))
    assert sorted({place.path for place in named if not exists(place.path)}) == []
    assert sorted({place for place in named if place.name and not defines(place.path, place.name)}) == []


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    assert sorted({link for link in links(document) if not (document.parent / link).exists()}) == []


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_into_a_page_lead_to_a_heading(document: Path) -> None:
    assert sorted({(page, anchor) for page, anchor in anchors(document) if anchor not in headings(page)}) == []


def test_the_readme_leads_to_the_architecture() -> None:
    assert "docs/develop/architecture.md" in set(links(ROOT / "README.md"))


def test_each_question_of_a_stranger_is_answered_by_a_place() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    table = text.partition("## Where is it?")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 10
    assert [row for row in rows if "`abacus/" not in row and "`workers/" not in row] == []


def test_the_picture_shows_every_room_and_worker() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    picture = text.partition("## Rooms and floors")[2].partition("\n## ")[0]
    rooms = {
        path.stem for path in (ROOT / "abacus").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert sorted(room for room in rooms - {"__init__"} if room not in picture) == []


@pytest.mark.parametrize("room", ["abacus", "benchmarks", "client", "tests", "workers"])
def test_pages_that_code_names_exist(room: str) -> None:
    named = {page for path in (ROOT / room).rglob("*.py") for page in _PAGE.findall(path.read_text(encoding="utf-8"))}
    assert sorted(page for page in named if not any(ROOT.glob(f"{page}*"))) == []
