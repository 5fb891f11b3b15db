"""The files that pages load: those of packages are those of the locks, and no page runs or styles anything itself."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from abacus.console.web.assets import NAMES, STATIC

TEMPLATES = sorted((STATIC.parent / "templates").glob("*.html"))
LOCKS = sorted(STATIC.glob("*.lock.json"))
AXE = Path(__file__).parent / "axe.lock.json"  # by which tests judge pages


@pytest.mark.parametrize("lock", [*LOCKS, AXE], ids=lambda path: path.name)
def test_the_files_are_those_of_the_lock(lock: Path) -> None:
    locked: dict[str, Any] = json.loads(lock.read_text(encoding="utf-8"))
    folder = lock.with_name(lock.name.removesuffix(".lock.json"))
    vendored = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert {name: _integrity(data) for name, data in vendored.items()} == locked["files"]
    assert locked.keys() == {"name", "version", "integrity", "files"}
    assert "LICENSE" in vendored
    script = next(data for name, data in vendored.items() if name.endswith(".js"))
    assert locked["version"].encode() in script


def test_every_folder_has_a_lock_and_every_file_a_reader() -> None:
    assert {each.name for each in STATIC.iterdir() if each.is_dir()} == {each.name.partition(".")[0] for each in LOCKS}
    files = {str(each.relative_to(STATIC)) for each in STATIC.rglob("*") if each.is_file()}
    assert {each for each in files if not each.endswith((".lock.json", "LICENSE"))} == set(NAMES)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_holds_a_script_or_a_style(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert re.findall(r"<script(?! src=)|<style|\sstyle=|\son\w+=|javascript:|hx-on|hx-vals=.js:", text) == []
    assert re.findall(r"https?:|[\"']//", text) == []
    assert re.findall(r"\|\s*safe|autoescape|Markup", text) == []


@pytest.mark.parametrize("name", ["charts.js", "clear.svg", "console.css", "console.js", "icon.svg"])
def test_our_own_files_name_no_other_host(name: str) -> None:
    text = (STATIC / name).read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?:|@import|url\(|eval\(|innerHTML", text) == []


@pytest.mark.parametrize(
    ("text", "ground"),
    [
        (text, ground)
        for text in ("--text", "--quiet", "--accent", "--bad")
        for ground in ("--ground", "--surface", "--sunken")
    ]
    + [("--accent-text", "--accent"), ("--accent", "--accent-soft")]
    + [(f"--{tone}", f"--{tone}-soft") for tone in ("good", "bad", "waiting")]
    + [
        ("--text", "--accent-soft"),
        ("--text", "--waiting-soft"),
        ("--good", "--waiting-soft"),
        ("--bad", "--waiting-soft"),
    ],
)
def test_text_can_be_read(text: str, ground: str) -> None:
    """Contrast as WCAG AA wants it: 4.5 to 1, in the light and in the dark."""
    sheet = (STATIC / "console.css").read_text(encoding="utf-8")
    for block in re.findall(r":root \{(.*?)\n\s*\}", sheet, re.DOTALL)[:2]:
        colours = dict(re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6});", block))
        assert _contrast(colours[text], colours[ground]) >= 4.5


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _integrity(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
