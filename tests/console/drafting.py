"""A saved draft for the tests of pages."""

from typing import Final
from uuid import UUID

from abacus.console.drafts.store import Draft, DraftStore
from tests.console.campaigning import TOML
from tests.console.desk import Desk

DRAFT: Final = UUID("00000000-0000-4000-8000-000000000004")


async def save_draft(open_desk: Desk, *, owner: str = "ann", country: str | None = "SG", text: str = TOML) -> None:
    draft = Draft(DRAFT, "campaigns", "market", country, owner, open_desk.clock.now())
    await open_desk.rooms[DraftStore].save(draft, text)
