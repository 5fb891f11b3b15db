"""A line to one server: its connections are kept, and go only to addresses that were looked up and checked.

There is no proxy, no cookie, no redirect and no decompression. All that waits has a deadline, and no answer is read
beyond its bound. Why aiohttp: docs/adr/0146.
"""

import asyncio
import socket
import ssl
from collections.abc import Mapping
from errno import EACCES
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from abacus import __version__
from abacus.core.errors import AbacusError, Refused
from abacus.exchanges.decide.contract import Answer
from abacus.platform.delivery.decide.addresses import checked_url, is_public
from abacus.platform.delivery.decide.reply import brief
from abacus.platform.delivery.post import Resolve, look_up

WITHIN_S: Final = 15.0
MOST_BYTES: Final = 64 * 1024
_CONNECT_WITHIN_S: Final = 5.0
_KEPT_FOR_S: Final = 30.0  # without a request; shorter than what servers usually keep
_LOOKED_UP_FOR_S: Final = 10
_MOST_ADDRESSES: Final = 3
_USER_AGENT: Final = f"abacus/{__version__}"


class NoAnswer(AbacusError):
    """Nothing was sent, or no whole answer came; the message says why."""


class NotSent(NoAnswer):
    """Nobody was there to be sent anything."""


class _Checked(AbstractResolver):
    """Finds addresses that may be connected to."""

    def __init__(self, resolve: Resolve, *, to_private: bool) -> None:
        self._resolve = resolve
        self._to_private = to_private

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002  # as it is called
    ) -> list[ResolveResult]:
        """Raises `OSError`, which aiohttp expects."""
        addresses = await self._resolve(host, port)
        barred = [address for address in addresses if not (self._to_private or is_public(address))]
        if barred:
            raise OSError(EACCES, f"{barred[0]} is not an address of the public internet")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses[:_MOST_ADDRESSES]
        ]

    async def close(self) -> None:
        """It holds nothing."""


class Line:
    """Asks the server under one address; `close` it at the end. Raises `Refused` for an address that may not be."""

    def __init__(
        self,
        url: str,
        *,
        to_private: bool,
        at_once: int,
        resolve: Resolve = look_up,
        trust: ssl.SSLContext | None = None,
    ) -> None:
        parts = URL(checked_url(url, to_private=to_private), encoded=True)
        if parts.query_string:
            raise Refused(f"{url!r}: leave out the query; the paths of the contract are put behind this address")
        self.origin: Final = parts.origin()
        self._root = parts.raw_path.rstrip("/")
        self._resolver = _Checked(resolve, to_private=to_private)
        self._at_once = at_once
        self._trust = trust
        self._session: aiohttp.ClientSession | None = None

    def target(self, path: str) -> str:
        """The path as the server is asked for it, which is what is signed."""
        return self._root + path

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        within_s: float = WITHIN_S,
        most_bytes: int = MOST_BYTES,
    ) -> Answer:
        """Raises `NoAnswer`."""
        try:
            async with asyncio.timeout(within_s):
                return await self._ask(method, target, headers, body, most_bytes)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NotSent(_in_words(error)) from None
        except TimeoutError:
            raise NoAnswer(f"no answer within {within_s:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise NoAnswer(_in_words(error)) from None

    async def _ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes, most_bytes: int) -> Answer:
        async with self._opened().request(
            method,
            URL(f"{self.origin}{target}", encoded=True),
            data=body or None,
            headers=headers,
            allow_redirects=False,
        ) as response:
            content = bytearray()
            async for chunk in response.content.iter_any():
                content += chunk
                if len(content) > most_bytes:
                    response.close()
                    raise NoAnswer(f"answered with more than {most_bytes:,} bytes")
            media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            return Answer(response.status, media_type, bytes(content), response.headers.get("retry-after"))

    def _opened(self) -> aiohttp.ClientSession:
        """Made with the first request: it belongs to the loop that runs then."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=self._at_once,
                    resolver=self._resolver,
                    ttl_dns_cache=_LOOKED_UP_FOR_S,
                    keepalive_timeout=_KEPT_FOR_S,
                    ssl=self._trust or True,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_WITHIN_S),
                headers={"accept-encoding": "identity", "user-agent": _USER_AGENT},
                skip_auto_headers=("content-type", "accept"),
                auto_decompress=False,
                trust_env=False,
            )
        return self._session


def _in_words(error: Exception) -> str:
    """Without the bytes that came: they may name an account."""
    match error:
        case aiohttp.ClientResponseError():
            return "what came is no HTTP"
        case aiohttp.ServerDisconnectedError():
            return "the connection was cut before an answer came"
        case aiohttp.ClientPayloadError():
            return "the connection was cut within the answer"
        case _:
            return brief(f"{type(error).__name__}: {error}")
