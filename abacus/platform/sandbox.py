"""The sandbox of test keys: a ledger of its own, in a schema of the same database, that no other worker looks into.

A session with `SESSION` finds the sandbox's tables under the names of the ledger's, and cannot reach the ledger's.
"""

from collections.abc import Mapping
from typing import Final

SCHEMA: Final = "sandbox"
SESSION: Final[Mapping[str, str]] = {"search_path": SCHEMA}
