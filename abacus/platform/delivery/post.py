"""Posts to a receiver, only at an address that was looked up and checked just before.

The request goes straight to the transport: no proxy, no cookies, no redirects. A connection serves one request, because
two receivers may share an address, and the certificate of one proves nothing about the other.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import Final

import httpx

from abacus import __version__
from abacus.core.errors import AbacusError, Refused
from abacus.platform.delivery.decide.addresses import checked_url, is_public
from abacus.platform.delivery.decide.reply import MOST_SHOWN, Reply, brief

WITHIN_S: Final = 15.0
_CONNECT_WITHIN_S: Final = 5.0
_READ_WITHIN_S: Final = 1.0
_MOST_ADDRESSES: Final = 3
_HEADERS: Final = {
    "content-type": "application/json",
    "user-agent": f"abacus/{__version__}",
    "accept-encoding": "identity",
}

# The addresses that a name stands for. Raises `OSError`.
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def look_up(host: str, port: int) -> Sequence[str]:
    infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in infos))


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


class NoReply(AbacusError):
    """The message was not sent, or no reply came; the text says why."""


class Poster:
    """Sends messages. `close` it at the end. Of a success the beginning of the body is read if `reads_success` says so,
    and all of it where `whole_up_to` says up to how many bytes: a longer one is no reply.
    """

    def __init__(
        self,
        *,
        to_private: bool,
        at_once: int,
        within_s: float = WITHIN_S,
        resolve: Resolve = look_up,
        trust: ssl.SSLContext | None = None,
        reads_success: bool = False,
        whole_up_to: int = 0,
    ) -> None:
        self._to_private = to_private
        self._reads_success = reads_success
        self._whole_up_to = whole_up_to
        self._within_s = within_s
        self._resolve = resolve
        self._transport = httpx.AsyncHTTPTransport(
            verify=trust or _certificates(),
            trust_env=False,
            limits=httpx.Limits(max_connections=at_once, max_keepalive_connections=0),
        )

    async def close(self) -> None:
        await self._transport.aclose()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, *, within_s: float | None = None) -> Reply:
        """Posts, and returns the reply or its absence; never fails. `within_s` is for this one message."""
        limit_s = self._within_s if within_s is None else within_s
        try:
            async with asyncio.timeout(limit_s):
                return await self._post(httpx.URL(checked_url(url, to_private=self._to_private)), headers, body)
        except TimeoutError:
            return Reply(None, f"no answer within {limit_s:g} s")
        except (NoReply, Refused) as fault:
            return Reply(None, str(fault))
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            return Reply(None, brief(f"{type(error).__name__}: {error}"))

    async def _post(self, url: httpx.URL, headers: Mapping[str, str], body: bytes) -> Reply:
        for address in (addresses := await self._addresses(url)):
            try:
                return await self._send(url, address, headers, body)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if address == addresses[-1]:
                    why = str(error) or f"no connection within {_CONNECT_WITHIN_S:g} s"
                    raise NoReply(brief(f"{address}: {why}")) from None
        raise NoReply(f"{url.host}: no address was found")

    async def _addresses(self, url: httpx.URL) -> Sequence[str]:
        """The addresses of the host. Raises `NoReply` when one of them may not be connected to."""
        host = url.raw_host.decode()
        try:
            addresses = await self._resolve(host, url.port or (443 if url.scheme == "https" else 80))
        except (OSError, UnicodeError) as error:
            raise NoReply(brief(f"{host}: {error}")) from None
        barred = [address for address in addresses if not (self._to_private or is_public(address))]
        if barred:
            raise NoReply(f"{host}: {barred[0]} is not an address of the public internet")
        return addresses[:_MOST_ADDRESSES]

    async def _send(self, url: httpx.URL, address: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Sends to exactly this address. The certificate and the Host header are those of the name."""
        request = httpx.Request(
            "POST",
            url.copy_with(host=address),
            headers={"host": url.netloc.decode(), **_HEADERS, **headers},
            content=body,
            extensions={
                "sni_hostname": url.raw_host.decode(),
                "timeout": {"connect": _CONNECT_WITHIN_S, "read": None, "write": None, "pool": None},
            },
        )
        response = await self._transport.handle_async_request(request)
        try:
            if response.is_success and self._whole_up_to:
                return Reply(response.status_code, str(response.status_code), body=await self._whole(response))
            wanted = self._reads_success if response.is_success else not response.is_redirect
            begins = await _beginning(response) if wanted else ""
            words, retry_after = _in_words(response, begins), _wait_of(response)
            return Reply(response.status_code, words, retry_after, begins)
        finally:
            await response.aclose()

    async def _whole(self, response: httpx.Response) -> bytes:
        """Raises `NoReply` for a body that is too long."""
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self._whole_up_to:
                raise NoReply(f"answered with more than {self._whole_up_to:,} bytes")
        return bytes(body)


def _in_words(response: httpx.Response, begins: str) -> str:
    if response.is_success:
        return str(response.status_code)
    if response.is_redirect:
        return f"answered {response.status_code}: redirects are not followed"
    return f"answered {response.status_code}{f': {begins}' if begins else ''}"


async def _beginning(response: httpx.Response) -> str:
    """The first bytes of the body, in one line; the rest is not read."""
    begins = b""
    with contextlib.suppress(httpx.HTTPError, TimeoutError):
        raw = response.aiter_raw()
        async with asyncio.timeout(_READ_WITHIN_S), contextlib.aclosing(raw) as chunks:  # type: ignore[type-var]  # it is a generator
            while len(begins) < MOST_SHOWN and (chunk := await anext(chunks, b"")):
                begins += chunk
    return brief(begins[:MOST_SHOWN].decode(errors="replace"))


def _wait_of(response: httpx.Response) -> str | None:
    wait = response.headers.get("retry-after")
    return brief(wait) if wait is not None else None
