"""The files that pages load: our sheet and scripts, and packages' files, held by the locks beside them."""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from abacus.console.web.faults import PageFault

STATIC: Final = Path(__file__).parents[1] / "static"
NAMES: Final = (
    "charts.js",
    "clear.svg",
    "console.css",
    "console.js",
    "icon.svg",
    "htmx/htmx.min.js",
    "uplot/uPlot.iife.min.js",
    "uplot/uPlot.min.css",
)
_KEPT: Final = "public, max-age=31536000, immutable"
_CHARACTERS: Final = 12
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@cache
def _zipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


class Assets:
    """Each under an address with its digest: another file has another address. They are short enough to be held in
    memory, as they are and compressed. Pages are not compressed: they hold what nobody is to guess.
    """

    def __init__(self) -> None:
        contents = {name: (STATIC / name).read_bytes() for name in NAMES}
        self._digests = {name: hashlib.sha256(content).hexdigest()[:_CHARACTERS] for name, content in contents.items()}
        self._contents = {(name, False): content for name, content in contents.items()}
        self._contents |= {(name, True): _zipped(content) for name, content in contents.items()}

    def address(self, name: str) -> str:
        return f"/static/{name}?{self._digests[name]}"

    def route(self) -> Route:
        async def asset(request: Request) -> Response:
            name = request.path_params["name"]
            if name not in self._digests:
                raise PageFault("not-found")
            zipped = "gzip" in request.headers.get("accept-encoding", "")
            headers = {"Cache-Control": _KEPT, "Vary": "Accept-Encoding"}
            if zipped:
                headers["Content-Encoding"] = "gzip"
            return Response(self._contents[name, zipped], media_type=_TYPES[Path(name).suffix], headers=headers)

        return Route("/static/{name:path}", asset)
