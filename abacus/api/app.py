"""The partner award API, put together."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.types import ASGIApp

from abacus import __version__
from abacus.api import adjustments, approvals, award_batches, awards, members, moves, preferences, problems
from abacus.api.auth import Guard
from abacus.api.backends import Backends
from abacus.api.front import Front
from abacus.api.health import probe_routes
from abacus.api.manual import manual_routes
from abacus.core.errors import Unavailable
from abacus.platform.health import Health

_DESCRIPTION = """
Award points to members, exactly once, let them be spent, and read what became of them.

Points are integers, amounts are decimal strings, times are RFC 3339 with an offset. Every error is an
`application/problem+json` document with a stable `type`.
"""

_KEY_SCHEME: Final = {
    "type": "http",
    "scheme": "bearer",
    "description": "A partner's key, `abk_live_…`, or `abk_test_…` for the sandbox; or a person's token, `abp_…`",
}


def starting_app(health: Health) -> ASGIApp:
    """The application while the API starts: it answers probes, and tells other callers to come again."""
    app = FastAPI(openapi_url=None)
    problems.install(app)
    app.router.routes.extend(probe_routes(health))

    @app.api_route("/{_path:path}", methods=["GET", "POST", "PUT"])
    async def starting(_path: str) -> None:
        raise Unavailable("api", "it is starting")

    return Front(app)


def api_app(backends: Backends, public_url: str | None = None) -> ASGIApp:
    """The API. `public_url` is the address that callers use, for its document; without one, the document names the
    address that it was fetched from, whatever that is: a request's Host header says nothing of TLS in front of us.
    """
    app = FastAPI(
        title="Abacus",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    problems.install(app)
    # In one list: routers inside routers are searched one after the other for each request.
    for router in (
        awards.router,
        award_batches.router,
        moves.router,
        adjustments.router,
        approvals.router,
        preferences.router,
        members.router,
        problems.router,
    ):
        app.router.routes.extend(router.routes)
    app.router.routes.extend([*probe_routes(backends.health), *manual_routes(public_url)])

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            schemas = document["components"]["schemas"]
            schemas["Problem"] = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas["FieldFault"] = schemas["Problem"].pop("$defs")["FieldFault"]
            # Not as FastAPI's security dependency, which every request would pass through.
            document["components"]["securitySchemes"] = {"key": _KEY_SCHEME}
            document["security"] = [{"key": []}]
            document["servers"] = [{"url": public_url or "/"}]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way of changing the document
    return Front(Guard(app, backends))
