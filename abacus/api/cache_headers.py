"""What caches in front of us are told of an answer: its time, who may get it, and whether theirs is the same.

An answer whose route says nothing is kept nowhere (`abacus/api/front.py:Front`).
"""

from hashlib import blake2b
from http import HTTPStatus
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from starlette.types import Scope

from abacus.api.auth import PersonCall

_ABOUT_MEMBERS: Final = "/members/"
_NAMES_A_MEMBER: Final = b"member"
_JSON: Final = (b"content-type", b"application/json")
_TAG_BYTES: Final = 12
_MEANING_BYTES: Final = 16

Headers = list[tuple[bytes, bytes]]


class Caching(NamedTuple):
    """Fresh for these seconds, and for `stale_s` more while it is asked for anew. A public answer is the same for all
    callers; the key says who may ask, so it varies by that.
    """

    fresh_s: int
    stale_s: int = 0
    is_public: bool = False


class Told(NamedTuple):
    """An answer, as it is sent."""

    status: int
    headers: Headers
    body: bytes


def tag_of(body: bytes) -> str:
    """The `ETag` of a body."""
    return f'"{blake2b(body, digest_size=_TAG_BYTES).hexdigest()}"'


def told(scope: Scope, body: bytes, caching: Caching, *, age_s: float = 0.0) -> Told:
    """The body as JSON, or 304 where the caller has it. What is about a member, or for a person of the house, is
    private, whatever the route says.
    """
    tag = tag_of(body)
    headers: Headers = [
        (b"cache-control", _control(caching, is_public=caching.is_public and not _is_for_one(scope)).encode()),
        (b"etag", tag.encode()),
        (b"vary", b"Authorization"),
        (b"age", str(int(age_s)).encode()),
    ]
    if _has(scope, tag):
        return Told(HTTPStatus.NOT_MODIFIED, headers, b"")
    return Told(HTTPStatus.OK, [_JSON, (b"content-length", str(len(body)).encode()), *headers], body)


def meant(scope: Scope, body: bytes, caching: Caching) -> Told:
    """The answer to `HEAD`, by which a cache in front learns what a request means before it looks for an answer
    (docs/operate/caches.md): a name of the body that `GET` has. Of what is private nothing is said.
    """
    headers: Headers = [(b"cache-control", b"no-store")]
    if caching.is_public and not _is_for_one(scope):
        meaning = blake2b(scope["path"].encode() + body, digest_size=_MEANING_BYTES).hexdigest()
        headers.append((b"abacus-meaning", meaning.encode()))
    return Told(HTTPStatus.OK, headers, b"")


def _control(caching: Caching, *, is_public: bool) -> str:
    control = f"{'public' if is_public else 'private'}, max-age={caching.fresh_s}"
    return f"{control}, stale-while-revalidate={caching.stale_s}" if caching.stale_s else control


def _is_for_one(scope: Scope) -> bool:
    return (
        _ABOUT_MEMBERS in scope["path"]
        or _NAMES_A_MEMBER in unquote_to_bytes(scope["query_string"]).lower()
        or isinstance(scope["state"].get("call"), PersonCall)
    )


def _has(scope: Scope, tag: str) -> bool:
    """Whether the caller has an answer with this tag already."""
    named = [value.decode("latin-1") for name, value in scope["headers"] if name == b"if-none-match"]
    tags = [each.strip() for value in named for each in value.split(",")]
    return any(each == "*" or each.removeprefix("W/") == tag for each in tags)
