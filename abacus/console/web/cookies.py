"""The cookies: of a person who is in, of a browser on its way in, of a browser that has just changed something, and of
what was done, for the page after it. Scripts cannot read them.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from abacus.console.entry.decide.browser import Use, local_path, sealed, unsealed
from abacus.console.entry.decide.sessions import zone_of
from abacus.console.entry.types import VISIT_TOKEN
from abacus.console.read_side import MOST_BEHIND_S
from abacus.console.web.packed import packed, unpacked
from abacus.console.web.page import Said, See
from abacus.console.web.seen import Seen, read_seen, text_of

_VISIT_S: Final = 3600
_SEEN_S: Final = 30 * 86400
_CHANGED_S: Final = 2 * int(MOST_BEHIND_S)
_SAID_S: Final = 120


@dataclass(frozen=True)
class Visit:
    """A browser on its way in: the token that its forms follow from, and where it wants to go."""

    token: str
    next: str = "/"
    zone: str = "UTC"

    def text(self) -> str:
        return f"{self.token}.{packed([self.next, self.zone])}"


class Cookies:
    """Where the console is reached by https, the browser holds them to this host and to https (`__Host-`)."""

    def __init__(self, *, secure: bool) -> None:
        self._secure = secure
        start = "__Host-" if secure else ""
        self._session = f"{start}abacus"
        self._visit = f"{start}abacus-visit"
        self._changed = f"{start}abacus-changed"
        self._said = f"{start}abacus-said"
        self._seen = f"{start}abacus-seen"

    def session(self, request: Request) -> str | None:
        return request.cookies.get(self._session)

    def visit(self, request: Request) -> Visit | None:
        token, _, rest = request.cookies.get(self._visit, "").partition(".")
        if not VISIT_TOKEN.fits(token):
            return None
        try:
            next_, zone = map(str, unpacked(rest))
        except (TypeError, ValueError):
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

    def said(self, request: Request, token: str) -> Said | None:
        """What was done in this session, if this is the page after it, however often that is loaded."""
        text = unsealed(request.cookies.get(self._said, ""), token, Use.SAID)
        if text is None:
            return None
        path, said = json.loads(text)
        query = request.scope["query_string"]
        here = request.scope["raw_path"] + (b"?" + query if query else b"")
        return Said(**said) if path == here.decode("latin-1") else None

    def set_said(self, response: Response, token: str, see: See) -> None:
        if see.said is not None:
            said = Said(see.said) if isinstance(see.said, str) else see.said
            told = json.dumps([see.path.partition("#")[0], asdict(said)])
            self._set(response, self._said, sealed(told, token, Use.SAID), _SAID_S)

    def seen(self, request: Request, person_id: str) -> Sequence[Seen]:
        """What the person looked at of late in this browser, the newest first."""
        return read_seen(request.cookies.get(self._seen, ""), person_id)

    def set_seen(self, response: Response, person_id: str, seen: Sequence[Seen]) -> None:
        self._set(response, self._seen, text_of(person_id, seen), _SEEN_S)

    def out(self, response: Response) -> None:
        self._drop(response, self._session)
        self._drop(response, self._seen)

    def _set(self, response: Response, name: str, value: str, seconds: int) -> None:
        response.set_cookie(name, value, max_age=seconds, path="/", secure=self._secure, httponly=True, samesite="lax")

    def _drop(self, response: Response, name: str) -> None:
        response.delete_cookie(name, path="/", secure=self._secure, httponly=True, samesite="lax")
