"""Each folder of the command line says its commands: each name once, each place there, and nothing loaded for it."""

import subprocess
import sys
from importlib import import_module
from typing import Final

import pytest

from tests.support.paths import ROOT

_CLI: Final = ROOT / "abacus" / "cli"


def _said() -> list[tuple[str, str, str]]:
    """The folder, the name and the place of every command."""
    folders = [path.parent.name for path in sorted(_CLI.glob("*/__init__.py")) if "COMMANDS" in path.read_text("utf-8")]
    lists = {folder: import_module(f"abacus.cli.{folder}").COMMANDS for folder in folders}
    return [(folder, name, place) for folder, commands in lists.items() for name, place in commands.items()]


SAID: Final = _said()


def test_a_name_is_said_once() -> None:
    names = [name for _, name, _ in SAID]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(("folder", "name", "place"), SAID, ids=[name for _, name, _ in SAID])
def test_a_command_is_where_its_folder_says(folder: str, name: str, place: str) -> None:
    module, _, definition = place.partition(":")
    assert hasattr(import_module(f"abacus.cli.{folder}.{module}"), definition)
    group, _, within = name.rpartition(" ")
    assert not group or group in {each for _, each, _ in SAID}, within


_LISTING: Final = """
import sys
from abacus.cli.main import Commands
names = Commands(name="abacus").list_commands(None)
print(*names, *(each for each in sys.modules if each.startswith("abacus.cli.") and each.count(".") > 2))
"""


@pytest.mark.long
def test_the_names_are_known_before_a_command_is_loaded() -> None:
    listed = subprocess.check_output([sys.executable, "-c", _LISTING], text=True, cwd=ROOT).split()  # noqa: S603  # the text above
    assert {each for each in listed if not each.startswith("abacus.cli.terminal.")} == {
        name for _, name, _ in SAID if " " not in name
    }
