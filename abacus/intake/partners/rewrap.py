"""Encrypts every stored secret of partners anew under the current key: after a key was added, and once there is one."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import Refused
from abacus.intake.partners.secret_places import former_webhook_secret_of, signing_secret_of, webhook_secret_of
from abacus.platform.encryption import Place, Secrets, SecretUnreadable
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement


class Rewrapped(NamedTuple):
    """How many secrets were encrypted anew, how many were current before, and a line for each unreadable one."""

    changed: int
    current: int
    unreadable: Sequence[str]


class _Column(NamedTuple):
    """A column with secrets: every secret by its partner, and the change of one that is still the same."""

    place: Callable[[str], Place]
    all: Statement
    change: Statement


def _column(place: Callable[[str], Place]) -> _Column:
    table, column, _ = place("")
    return _Column(
        place,
        Statement(f"select partner_id, {column} from {table} where {column} is not null order by partner_id"),
        Statement(f"update {table} set {column} = :new where partner_id = :partner_id and {column} = :old"),
    )


_COLUMNS: Final = tuple(map(_column, (signing_secret_of, webhook_secret_of, former_webhook_secret_of)))


async def rewrap(pool: Pool, secrets: Secrets) -> Rewrapped:
    """A secret that somebody replaces meanwhile is left alone: it was stored under the current key. Raises `Refused`
    without a key, and `Unavailable`.
    """
    if not secrets.encrypts:
        raise Refused("ABACUS_SECRETS_KEY is not set: there is no key to encrypt under")
    changed = current = 0
    unreadable: list[str] = []
    async with passing_failures():
        for column in _COLUMNS:
            for partner_id, stored in await pool.fetch(*column.all()):
                if secrets.is_current(stored):
                    current += 1
                    continue
                place = column.place(partner_id)
                try:
                    new = await secrets.to_store(await secrets.read(stored, place), place)
                except SecretUnreadable as fault:
                    unreadable.append(str(fault))
                    continue
                await pool.execute(*column.change(partner_id=partner_id, old=stored, new=new))
                changed += 1
    return Rewrapped(changed, current, unreadable)
