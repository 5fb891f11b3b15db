"""Encrypts every stored secret anew under the current key: after a key was added, and once there is one."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from abacus.core.errors import Refused
from abacus.platform.encryption import SecretPlace, Secrets, SecretUnreadable
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement


class Rewrapped(NamedTuple):
    """How many secrets were encrypted anew, how many were current before, and a line for each unreadable one."""

    changed: int
    current: int
    unreadable: Sequence[str]


class SecretColumn(NamedTuple):
    """A column with secrets, and the column that names the row of each."""

    place: Callable[[str], SecretPlace]
    row: str

    @property
    def all(self) -> Statement:
        """Every secret, with its row."""
        table, column, _ = self.place("")
        return Statement(f"select {self.row}, {column} from {table} where {column} is not null order by {self.row}")

    @property
    def change(self) -> Statement:
        """Changes a secret that is still the same."""
        table, column, _ = self.place("")
        return Statement(f"update {table} set {column} = :new where {self.row} = :row and {column} = :old")


async def rewrap(pool: Pool, secrets: Secrets, columns: Iterable[SecretColumn]) -> Rewrapped:
    """A secret that somebody replaces meanwhile is left alone: it was stored under the current key. Raises `Refused`
    without a key, and `Unavailable`.
    """
    if not secrets.encrypts:
        raise Refused("ABACUS_SECRETS_KEY is not set: there is no key to encrypt under")
    changed = current = 0
    unreadable: list[str] = []
    async with passing_failures():
        for column in columns:
            for row, stored in await pool.fetch(*column.all()):
                if secrets.is_current(stored):
                    current += 1
                    continue
                place = column.place(row)
                try:
                    new = await secrets.to_store(await secrets.read(stored, place), place)
                except SecretUnreadable as fault:
                    unreadable.append(str(fault))
                    continue
                await pool.execute(*column.change(row=row, old=stored, new=new))
                changed += 1
    return Rewrapped(changed, current, unreadable)
