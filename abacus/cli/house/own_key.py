"""The key for partners' secrets that `abacus up` makes for itself, beside the ledger that it keeps."""

import os
from pathlib import Path
from typing import Final

from abacus.core.errors import Refused
from abacus.platform.encryption import Keyring, new_keyring_text

_FILE: Final = "secrets.key"
_OWNER_ONLY: Final = 0o600


def key_file(data_dir: Path) -> Path:
    return data_dir.resolve() / _FILE


def own_key(data_dir: Path) -> str:
    """The key of this data directory, made when it is first needed. Raises `Refused` for a file that holds no key."""
    file = key_file(data_dir)
    if not file.exists():
        _write_whole(file, new_keyring_text("local") + "\n")
    text = file.read_text(encoding="utf-8").strip()
    try:
        Keyring.parse(text)
    except ValueError as fault:
        raise Refused(f"{file}: {fault}; without the key that was in it, stored secrets cannot be read") from None
    return text


def _write_whole(file: Path, text: str) -> None:
    """Nobody ever sees half of it, not even after a crash."""
    unfinished = file.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "w") as opened:
        opened.write(text)
    unfinished.replace(file)
