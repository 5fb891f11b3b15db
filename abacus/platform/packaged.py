"""Files that the wheel carries beside the code. In a checkout they are read from their own folders."""

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]
_IN_CHECKOUT: Final = {"alembic": "alembic", "queues.json": "localstack/queues.json"}


def packaged_file(name: str) -> Path:
    """The path of the file or folder, installed or in a checkout."""
    installed = _PACKAGE / "_packaged" / name
    return installed if installed.exists() else _PACKAGE.parent / _IN_CHECKOUT[name]
