"""The files that pages load: our sheet and script, and those of packages, held by the locks beside them."""

import hashlib
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from abacus.console.web.faults import PageFault

STATIC: Final = Path(__file__).parents[1] / "static"
NAMES: Final = (
    "console.css",
    "console.js",
    "icon.svg",
    "htmx/htmx.min.js",
    "uplot/uPlot.iife.min.js",
    "uplot/uPlot.min.css",
)
_KEPT: Final = "public, max-age=31536000, immutable"
_CHARACTERS: Final = 12


class Assets:
    """Each under an address with its digest: another file has another address."""

    def __init__(self) -> None:
        self._digests = {name: hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:_CHARACTERS] for name in NAMES}

    def address(self, name: str) -> str:
        return f"/static/{name}?{self._digests[name]}"

    def route(self) -> Route:
        async def asset(request: Request) -> Response:
            name = request.path_params["name"]
            if name not in self._digests:
                raise PageFault("not-found")
            return FileResponse(STATIC / name, headers={"Cache-Control": _KEPT})

        return Route("/static/{name:path}", asset)
