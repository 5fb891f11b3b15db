"""A proxy in front of Postgres that cuts connections where it hurts: inside a query, and between a commit and its
answer.
"""

import asyncio
import contextlib
import random
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from tests.reliability.chaos.proxies.frames import WANTS_ENCRYPTION, Commits, Frame, Frames, has_committed, has_ended
from tests.support.proxy import Proxy

_NO_ENCRYPTION: Final = b"N"
_RUNS: Final = frozenset({b"Q", b"E"})  # a simple query, and the execution of a prepared one


@dataclass(frozen=True)
class PostgresFaults:
    """How probable each misfortune is.

    `cut`: the connection is cut before a query, within it, or before its answer.
    `unknown_commit`: a commit is carried out, and the connection is cut instead of the answer.
    """

    cut: float = 0.0
    unknown_commit: float = 0.0


class PostgresProxy(Proxy):
    """Passes on the bytes of asyncpg and of Postgres; asyncpg sends its next query only after the answer to the last.

    `faults` may be replaced at any time. `struck` counts what has struck, by the names of `PostgresFaults`, and the
    connections that `cut_all` dropped. Silent, it passes nothing on, as where packets are lost.
    """

    def __init__(self, host: str, port: int, seed: int) -> None:
        super().__init__(host, port)
        self.faults = PostgresFaults()
        self.struck: Counter[str] = Counter()
        self._rng = random.Random(seed)

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def cut_all(self) -> None:
        self.struck["cut_all"] += len(self._open)
        super().cut_all()

    async def _converse(
        self,
        from_client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        from_server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        unanswered = asyncio.Event()  # set before a commit whose answer is kept back
        sides = (
            asyncio.ensure_future(self._ask(from_client, to_client, to_server, unanswered)),
            asyncio.ensure_future(self._tell(from_server, to_client, unanswered)),
        )
        try:
            done, _ = await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
            for side in done:
                with contextlib.suppress(OSError):
                    side.result()
        finally:
            for side in sides:
                side.cancel()
            await asyncio.wait(sides)

    async def _ask(
        self,
        from_client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        to_server: asyncio.StreamWriter,
        unanswered: asyncio.Event,
    ) -> None:
        """Pass queries on until the client is gone, or the connection is to be cut."""
        frames, commits = Frames(greets=True), Commits()
        while data := await from_client.read(65536):
            ready = bytearray()
            for frame in frames.of(data):
                if frame.kind == WANTS_ENCRYPTION:
                    to_client.write(_NO_ENCRYPTION)  # encrypted bytes could not be understood
                    continue
                is_commit = commits.is_commit(frame)
                if frame.kind in _RUNS and self._strikes(self.faults.cut):
                    self.struck["cut"] += 1
                    to_server.write(ready + frame.raw[: self._where_to_cut(frame)])
                    return
                if is_commit and self._strikes(self.faults.unknown_commit):
                    unanswered.set()
                ready += frame.raw
            await self._speaking.wait()
            to_server.write(ready)
            await to_server.drain()

    def _where_to_cut(self, frame: Frame) -> int:
        return self._rng.choice((0, len(frame.raw) // 2, len(frame.raw)))

    async def _tell(
        self, from_server: asyncio.StreamReader, to_client: asyncio.StreamWriter, unanswered: asyncio.Event
    ) -> None:
        """Pass answers on until the server is gone, or has carried out a commit whose answer is kept back."""
        frames = Frames()
        while data := await from_server.read(65536):
            await self._speaking.wait()
            if not unanswered.is_set():
                to_client.write(data)
                await to_client.drain()
                continue
            for frame in frames.of(data):
                if has_ended(frame):
                    self.struck.update(["unknown_commit"] if has_committed(frame) else [])
                    return

    def _strikes(self, probability: float) -> bool:
        return self._rng.random() < probability
