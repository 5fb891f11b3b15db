"""The pages of docs/develop/benchmarks have the tables of the runs beside them, and a run is written as it is read."""

from pathlib import Path

import pytest

from benchmarks.pages import FOLDER, Run, read_runs, run_of, shown_on, with_tables, write_pages, write_run
from benchmarks.report import Figure

PAGES = sorted(FOLDER.glob("*.md"))
FIGURES = [
    Figure("posting", "30,295 awards/s", "0.30 of the COPY", ">= 18,000/s", reached=True),
    Figure("… all again", "337,963 awards/s"),
]
PAGE = """# A page

<!-- run: posting -->
something old
<!-- end -->

Words stay.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_has_the_tables_of_its_runs(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == with_tables(text, read_runs(FOLDER)), "run `python -m benchmarks.pages`"


def test_each_run_is_shown_once() -> None:
    shown = [part for page in PAGES for part in shown_on(page.read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(read_runs(FOLDER))


def test_a_run_is_read_as_it_was_written(folder: Path) -> None:
    run = run_of("--only posting", "2026-11-23", "2 cores", FIGURES)
    write_run(folder, "posting", run)
    (read,) = read_runs(folder).values()
    assert read == Run(run.asked, run.taken, run.machine, [list(row) for row in run.rows])


def test_a_run_is_written_into_its_page(folder: Path) -> None:
    write_run(folder, "posting", run_of("--only posting", "2026-11-23", "2 cores", FIGURES))
    assert write_pages(folder) == [folder / "page.md"]
    assert (folder / "page.md").read_text(encoding="utf-8").splitlines() == [
        "# A page",
        "",
        "<!-- run: posting -->",
        "| measurement | figure | ratio in the same run | wanted | reached |",
        "|---|---|---|---|---|",
        "| posting | 30,295 awards/s | 0.30 of the COPY | >= 18,000/s | yes |",
        "| … all again | 337,963 awards/s |  |  |  |",
        "",
        '`make bench ARGS="--only posting"`',
        "on 2026-11-23, 2 cores.",
        "<!-- end -->",
        "",
        "Words stay.",
    ]
    assert write_pages(folder) == []
