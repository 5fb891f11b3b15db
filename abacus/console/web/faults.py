"""Faults that end a request with a page, or with a problem document for its JSON twin."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from abacus.api.api_problem import KINDS
from abacus.console.web.parts import Down
from abacus.core.errors import Unavailable

# Beside the kinds of the API: their statuses and titles.
_OWN: Final[Mapping[str, tuple[int, str]]] = {
    "signed-out": (401, "Sign in first"),
    "form-expired": (403, "The form is too old"),
    "role-needed": (403, "Your roles do not allow this"),
    "not-found": (404, "There is no such page"),
    "method-not-allowed": (405, "The page does not take this"),
    "done-before": (409, "This form has taken effect already"),
    "too-large": (413, "That is too much for one form"),
    "too-many-errands": (429, "You have as many tasks as one may"),
    "unsupported-media-type": (415, "This is no form"),
    "internal": (500, "Something went wrong here"),
}
_USUAL: Final = 400


class PageFault(Exception):  # it is the answer
    """Ends a request: a kind that programs tell apart, and a sentence for people."""

    def __init__(self, kind: str, detail: str = "", *, status: int | None = None, down: Down | None = None) -> None:
        super().__init__(f"{kind}: {detail}")
        known = _OWN.get(kind) or KINDS.get(kind, (_USUAL, "That cannot be done"))[:2]
        self.kind = kind
        self.status = status or known[0]
        self.title = known[1]
        self.detail = detail
        self.down = down

    @property
    def told(self) -> Mapping[str, Any]:
        """What its page says."""
        return {"detail": self.detail, "status": self.status, "down": self.down}


def of_unavailable(error: Unavailable, since: datetime) -> PageFault:
    detail = f"The {error.dependency} does not answer, since {since:%Y-%m-%d %H:%M:%S} UTC: {error.detail}"
    return PageFault("unavailable", detail, status=503, down=Down(error.dependency, since, error.detail))
