"""Entries of the log that a test writes beside a change."""

from abacus.core.clock import SystemClock
from abacus.people.store.audit import entry_of, write
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, Connection


def limits_logged(partner_id: str, deed: Deed = Deed.EDIT_LIMITS) -> Also:
    """Somebody changes the limits of the partner."""

    async def also(connection: Connection) -> None:
        await write(connection, [entry_of("login:tests", deed, f"partner:{partner_id}", SystemClock().now())])

    return also
