"""An application for callers who show a key: its routes behind the guard, the probes, and its document for people."""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.types import ASGIApp

from abacus import __version__
from abacus.api import problems
from abacus.api.api_problem import Problem
from abacus.api.auth import Access, Guard
from abacus.api.front import Front
from abacus.api.health import probe_routes
from abacus.api.hot import NOTHING_READ, HotRead, HotRoute, HotRoutes
from abacus.api.hot_paths import Address
from abacus.api.manual import manual_routes
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.platform.health import Health

NO_DOCUMENTS: Final[Mapping[str, Any]] = MappingProxyType({})
NOTHING_HOT: Final[Mapping[str, HotRoute[Any]]] = MappingProxyType({})


def guarded_app(
    title: str,
    description: str,
    routers: Iterable[APIRouter],
    access: Access,
    health: Health,
    *,
    keys: str,
    public_url: str | None = None,
    journal: RequestJournal | None = None,
    documents: Mapping[str, Any] = NO_DOCUMENTS,
    hot: Mapping[str, HotRoute[Any]] = NOTHING_HOT,
    lean: Collection[Address] = (),
    reads: Mapping[str, HotRead[Any]] = NOTHING_READ,
) -> ASGIApp:
    """`keys` says which keys callers show. `documents` are further schemas of the manual, by name. `public_url` is
    the address that callers use, for the document; without one, the document names the address that it was fetched
    from, whatever that is: a request's Host header says nothing of TLS in front of us. Routes that are `hot`, by their
    paths, are served before the framework, as are `reads`, and the routes of `lean`, by their addresses.
    """
    # Without FastAPI's pages, and without its telemetry, which looks for a receiver at every request.
    app = FastAPI(
        title=title,
        version=__version__,
        description=description,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    problems.install(app)
    # In one list: routers inside routers are searched one after the other for each request.
    for router in (*routers, problems.router):
        app.router.routes.extend(router.routes)
    app.router.routes.extend([*probe_routes(health), *manual_routes(public_url)])
    _describe(app, keys, public_url, documents)
    return Front(Guard(HotRoutes(app, hot, lean, reads) if hot or lean or reads else app, app.routes, access), journal)


def _describe(app: FastAPI, keys: str, public_url: str | None, documents: Mapping[str, Any]) -> None:
    """Completes FastAPI's document with the problems, the keys and the address."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            schemas = document["components"]["schemas"]
            schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas["FieldFault"] = schemas["Problem"].pop("$defs")["FieldFault"]
            schemas |= documents
            # Not as FastAPI's security dependency, which every request would pass through.
            scheme = {"type": "http", "scheme": "bearer", "description": keys}
            document["components"]["securitySchemes"] = {"key": scheme}
            document["security"] = [{"key": []}]
            document["servers"] = [{"url": public_url or "/"}]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way of changing the document
