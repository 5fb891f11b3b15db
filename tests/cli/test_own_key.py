"""The key that `abacus up` makes for itself: once, for its owner alone, and never a second one over it."""

import stat
from pathlib import Path

import pytest

from abacus.cli.house.own_key import key_file, own_key
from abacus.core.errors import Refused
from abacus.platform.encryption import Secrets


def test_it_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    key = own_key(tmp_path)
    assert Secrets.of(key).encrypts
    assert own_key(tmp_path) == key
    assert stat.S_IMODE(key_file(tmp_path).stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["secrets.key"]


def test_a_file_without_a_key_is_not_written_over(tmp_path: Path) -> None:
    key_file(tmp_path).write_text("oh\n")
    with pytest.raises(Refused, match="stored secrets cannot be read"):
        own_key(tmp_path)
    assert key_file(tmp_path).read_text() == "oh\n"
