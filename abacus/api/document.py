"""An application without routes, and its OpenAPI document: FastAPI's, with the problems, the keys and the address."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from abacus import __version__
from abacus.api.api_problem import Problem


def bare_app(title: str, description: str) -> FastAPI:
    """Without FastAPI's pages, and without its telemetry, which looks for a receiver at every request: the house has
    metrics of its own.
    """
    return FastAPI(
        title=title,
        version=__version__,
        description=description,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )


def describe(app: FastAPI, keys: str, public_url: str | None) -> None:
    """Completes the document. `keys` says which keys callers show."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            schemas = document["components"]["schemas"]
            schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas["FieldFault"] = schemas["Problem"].pop("$defs")["FieldFault"]
            # Not as FastAPI's security dependency, which every request would pass through.
            scheme = {"type": "http", "scheme": "bearer", "description": keys}
            document["components"]["securitySchemes"] = {"key": scheme}
            document["security"] = [{"key": []}]
            document["servers"] = [{"url": public_url or "/"}]
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way of changing the document
