"""The owner of each token: all owners in memory, read again every few seconds, kept while the database is away."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.core.tokens import TokenForm, has_digest
from abacus.platform.fresh_copy import Cadence, FreshCopy

_CADENCE: Final = Cadence(refresh_every_s=2.0, look_again_every_s=0.5)  # however many wrong tokens are tried
_NOTE_EVERY_S: Final = 30.0

Owner = TypeVar("Owner")


class Kept(Protocol):
    """A token as the database keeps it."""

    @property
    def prefix(self) -> str: ...

    @property
    def digest(self) -> bytes: ...

    def holds(self, now: datetime) -> bool: ...


class Owners(NamedTuple, Generic[Owner]):
    """All owners by id, and all tokens by prefix, each with its owner's id."""

    by_id: Mapping[str, Owner]
    tokens: Mapping[str, tuple[str, Kept]]


class Keyring(Generic[Owner]):
    """Finds the owner of a token of these forms; a directory of owners extends it. Its copy may be two seconds old, or
    older while the database is away.

    `name` is the name of the owners in errors; `is_open` says whether an owner's tokens are accepted.
    """

    def __init__(
        self,
        name: str,
        forms: Sequence[TokenForm],
        load: Callable[[], Awaitable[Sequence[Owner]]],
        note_use: Callable[[dict[str, datetime]], Awaitable[None]],
        clock: Clock,
        *,
        id_of: Callable[[Owner], str],
        tokens_of: Callable[[Owner], Sequence[Kept]],
        is_open: Callable[[Owner], bool],
    ) -> None:
        def build(owners: Sequence[Owner]) -> Owners[Owner]:
            tokens = {token.prefix: (id_of(owner), token) for owner in owners for token in tokens_of(owner)}
            return Owners({id_of(owner): owner for owner in owners}, tokens)

        self._forms = forms
        self._note_use = note_use
        self._clock = clock
        self._is_open = is_open
        self._copy: FreshCopy[Sequence[Owner], Owners[Owner]] = FreshCopy(name, lambda _: load(), build, _CADENCE)
        self._last_used: dict[str, datetime] = {}

    async def owner_of(self, text: str) -> Owner | None:
        """The owner of this token, or None. Raises `Unavailable` when no owners were ever read."""
        form = next((each for each in self._forms if each.fits(text)), None)
        if form is None:
            return None
        prefix, now = form.prefix_of(text), self._clock.now()
        row = self._known(prefix) or await self._looked_up(prefix)
        if row is None or not has_digest(text, row[1].digest) or not row[1].holds(now):
            return None
        owner = self.owner(row[0])
        if not self._is_open(owner):
            return None
        self._last_used[prefix] = now
        return owner

    async def look_up(self, id_: str) -> Owner | None:
        """The owner with this id, or None; a disabled one too. Raises `Unavailable` when no owners were ever read."""
        if id_ not in self._copy.value().by_id:
            await self._copy.look_again(wait=True)  # perhaps it was made a moment ago
        return self._copy.value().by_id.get(id_)

    def owner(self, id_: str) -> Owner:
        """The owner with this id, as last read."""
        return self._copy.value().by_id[id_]

    async def keep_fresh(self) -> None:
        """Runs until cancelled: reads the owners again and again."""
        await self._copy.keep_fresh()

    async def refresh(self) -> None:
        """Reads the owners now. Raises `Unavailable`."""
        await self._copy.refresh()

    def wake(self) -> None:
        """The owners have changed: they are read now rather than later."""
        self._copy.wake()

    async def keep_noting_use(self) -> None:
        """Runs until cancelled: writes the times of the tokens' last use."""
        while True:
            await asyncio.sleep(_NOTE_EVERY_S)
            with suppress(Unavailable):
                await self.note_use()

    async def note_use(self) -> None:
        """Writes the times of the tokens' last use. Raises `Unavailable`, and keeps the times that it has not
        written.
        """
        if self._last_used:
            used, self._last_used = self._last_used, {}
            try:
                await self._note_use(used)
            except Unavailable:
                self._last_used = used | self._last_used
                raise

    def _known(self, prefix: str) -> tuple[str, Kept] | None:
        try:
            return self._copy.value().tokens.get(prefix)
        except Unavailable:
            return None

    async def _looked_up(self, prefix: str) -> tuple[str, Kept] | None:
        await self._copy.look_again(wait=True)  # perhaps it was made a moment ago
        return self._copy.value().tokens.get(prefix)
