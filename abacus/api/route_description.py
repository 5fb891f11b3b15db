"""The OpenAPI description of routes that read their bodies and headers themselves."""

from typing import Any

from pydantic import BaseModel


def described(
    *parameters: dict[str, Any], body: type[BaseModel] | None = None, required: bool = True
) -> dict[str, Any]:
    """The OpenAPI description of a route that reads its body and headers itself."""
    if body is None:
        return {"parameters": list(parameters)}
    schema = body.model_json_schema(ref_template="#/components/schemas/{model}")
    return {
        "parameters": list(parameters),
        "requestBody": {"required": required, "content": {"application/json": {"schema": schema}}},
    }
