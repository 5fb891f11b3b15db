"""The file to `source` in another terminal: what other commands need to reach a house on this machine."""

import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from abacus.bootstrap import Service
from abacus.core.errors import Refused
from abacus.platform.settings import PREFIX, Settings

_OWNER_ONLY: Final = 0o600
_IF_CHOSEN: Final = (
    "queue_prefix",
    "transactions_topic",
    "points_topic",
    "tiers_topic",
    "events_topic",
    "positions_topic",
    "api_public_url",
    "console_public_url",
)
# As they were bound. That of the probes is left out: each worker that is started in the other terminal would want it.
_SERVING: Final = ("api", "counts", "offers", "places", "console")
_BOUND: Final = tuple(f"{who}_{what}" for who in _SERVING for what in ("host", "port"))


def environment_file(data_dir: Path) -> Path:
    return data_dir.resolve() / "env"


def check_data_dir(data_dir: Path) -> None:
    """Raises `Refused` when the file could not be written here."""
    path = environment_file(data_dir)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise Refused(f"--data-dir: {path.parent}: {error.strerror}; choose another data directory") from None
    if path.is_dir():
        raise Refused(f"--data-dir: {path} is a directory, where a file is to be; choose another data directory")


@contextmanager
def written(data_dir: Path, config: Settings, key: Path | None) -> Iterator[Path]:
    """The file, which is there until the block ends: as long as its addresses are good. `key` is the file of the key of
    the secrets, where no setting has it. Raises `Refused` if it cannot be written.
    """
    path = environment_file(data_dir)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, _lines(config, key))
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from None
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def environment(config: Settings) -> dict[str, str]:
    """The settings of the file, by their names in the environment."""
    chosen = (name for name in _IF_CHOSEN if name in config.model_fields_set)
    return {f"{PREFIX}{name.upper()}": str(getattr(config, name)) for name in (*Service, *chosen, *_BOUND)}


def _lines(config: Settings, key: Path | None) -> list[str]:
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in environment(config).items()]
    if key is not None:
        lines.append(f'export {PREFIX}SECRETS_KEY="$(cat {shlex.quote(str(key))})"\n')
    return lines


def _write(path: Path, lines: list[str]) -> None:
    """An address may hold a password, so only the file's owner may read it."""
    path.unlink(missing_ok=True)  # so that the mode is that of a new file
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY), "w", encoding="utf-8") as opened:
        opened.writelines(lines)
