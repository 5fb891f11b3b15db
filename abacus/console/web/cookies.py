"""The cookies: of a person who is in, of a browser on its way in, and of a browser that has just changed something.
Scripts cannot read them.
"""

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from abacus.console.entry.decide.browser import local_path
from abacus.console.entry.decide.sessions import zone_of
from abacus.console.entry.types import VISIT_TOKEN
from abacus.console.read_side import MOST_BEHIND_S

_VISIT_S: Final = 3600
_CHANGED_S: Final = 2 * int(MOST_BEHIND_S)


@dataclass(frozen=True)
class Visit:
    """A browser on its way in: the token that its forms follow from, and where it wants to go."""

    token: str
    next: str = "/"
    zone: str = "UTC"

    def text(self) -> str:
        rest = json.dumps([self.next, self.zone]).encode()
        return f"{self.token}.{base64.urlsafe_b64encode(rest).rstrip(b'=').decode()}"


class Cookies:
    """Where the console is reached by https, the browser holds them to this host and to https (`__Host-`)."""

    def __init__(self, *, secure: bool) -> None:
        self._secure = secure
        start = "__Host-" if secure else ""
        self._session = f"{start}abacus"
        self._visit = f"{start}abacus-visit"
        self._changed = f"{start}abacus-changed"

    def session(self, request: Request) -> str | None:
        return request.cookies.get(self._session)

    def visit(self, request: Request) -> Visit | None:
        token, _, rest = request.cookies.get(self._visit, "").partition(".")
        if not VISIT_TOKEN.fits(token):
            return None
        try:
            next_, zone = map(str, json.loads(base64.urlsafe_b64decode(rest + "=" * (-len(rest) % 4))))
        except (ValueError, TypeError, binascii.Error):
            return Visit(token)
        return Visit(token, local_path(next_), zone_of(zone))

    def set_visit(self, response: Response, visit: Visit) -> None:
        self._set(response, self._visit, visit.text(), _VISIT_S)

    def let_in(self, response: Response, token: str, whole_s: int) -> None:
        """Another token than any that the browser had before."""
        self._set(response, self._session, token, whole_s)
        self._drop(response, self._visit)

    def has_changed(self, request: Request) -> bool:
        return self._changed in request.cookies

    def set_changed(self, response: Response) -> None:
        self._set(response, self._changed, "1", _CHANGED_S)

    def out(self, response: Response) -> None:
        self._drop(response, self._session)

    def _set(self, response: Response, name: str, value: str, seconds: int) -> None:
        response.set_cookie(name, value, max_age=seconds, path="/", secure=self._secure, httponly=True, samesite="lax")

    def _drop(self, response: Response, name: str) -> None:
        response.delete_cookie(name, path="/", secure=self._secure, httponly=True, samesite="lax")
