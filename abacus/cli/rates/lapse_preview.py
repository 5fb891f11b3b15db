"""The part of a backtest that previews another expiry policy."""

from pathlib import Path
from typing import NamedTuple

from abacus.core.csv_text import CsvWriter
from abacus.core.errors import Refused
from abacus.oversight.backtest.decide.lapses import LapseChange, changes_policy, policy_of
from abacus.oversight.backtest.lapses import Moved, lapses, moved
from abacus.platform.postgres import Connection
from abacus.pricing.decide.card import RateCard


class Preview(NamedTuple):
    """The policy now and that of the draft, and the points by month; without rows where the policy does not change."""

    policies: dict[str, str | None]
    rows: list[LapseChange]


async def preview(connection: Connection, draft: RateCard, displaced: RateCard | None, members: Path | None) -> Preview:
    """Against the card that the draft displaces. Writes the file of members, where one is named. Raises `Refused`."""
    policies = {"now": policy_of(displaced) if displaced else None, "draft": policy_of(draft)}
    if not changes_policy(draft, displaced):
        if members is not None:
            raise Refused("--members: the draft does not change when points lapse")
        return Preview(policies, [])
    if members is not None:
        await _write_members(connection, draft, members)
    return Preview(policies, await lapses(connection, draft))


async def _write_members(connection: Connection, draft: RateCard, file: Path) -> None:
    """A page at a time, however many there are."""
    try:
        with file.open("w", encoding="utf-8", errors="backslashreplace", newline="") as opened:
            rows = CsvWriter(opened)
            rows.row(Moved._fields)
            async for page in moved(connection, draft):
                rows.rows(page)
    except OSError as error:
        raise Refused(f"--members: {file}: {error.strerror or error}") from error
