"""The partner award API, put together."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.types import ASGIApp

from abacus import __version__
from abacus.api import awards, members, problems
from abacus.api.front import Front
from abacus.api.health import health_routes
from abacus.api.parts import Parts

_DESCRIPTION = """
Award points to members, exactly once, and read what became of them.

Points are integers, amounts are decimal strings, times are RFC 3339 with an offset. Every error is an
`application/problem+json` document with a stable `type`.
"""


def api_app(parts: Parts) -> ASGIApp:
    app = FastAPI(title="Abacus", version=__version__, description=_DESCRIPTION, redoc_url=None)
    app.state.parts = parts
    problems.install(app)
    app.include_router(awards.router)
    app.include_router(members.router)
    app.include_router(problems.router)
    app.router.routes.extend(health_routes(parts.health))

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            schemas = document["components"]["schemas"]
            schemas["Problem"] = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas["FieldFault"] = schemas["Problem"].pop("$defs")["FieldFault"]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way of changing the document
    return Front(app)
