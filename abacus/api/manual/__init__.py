"""The API's document for people: a page that shows it and tries it, with Swagger UI's own files beside it.

Nothing is fetched from elsewhere, so the page works where the API works, and the browser is told to hold it to that.
"""

from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from abacus.api.api_problem import ApiProblem

_HERE: Final = Path(__file__).parent
_VENDORED: Final = _HERE / "swagger-ui"
_FILES: Final = {
    "start.js": _HERE / "start.js",
    **{name: _VENDORED / name for name in ("swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png")},
}

# No script but the two files. Swagger UI styles single elements, and its sheet holds small pictures.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src {connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_KEPT: Final = {"Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}


def manual_routes(public_url: str | None) -> list[BaseRoute]:
    """`/docs` and its files. The page may call this API and, if the API is reached under another address, that one."""
    connect = f"'self' {public_url}" if public_url else "'self'"
    headers = {"Content-Security-Policy": _POLICY.format(connect=connect), "X-Content-Type-Options": "nosniff"}

    async def page(_: Request) -> Response:
        return FileResponse(_HERE / "index.html", headers=headers)

    async def file(request: Request) -> Response:
        path = _FILES.get(request.path_params["file"])
        if path is None:
            raise ApiProblem("not-found")
        return FileResponse(path, headers=_KEPT)

    return [Route("/docs", page), Route("/docs/{file}", file)]
