"""The folders and files beside the code that tests read."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
GOLDEN: Final = ROOT / "tests" / "golden"
