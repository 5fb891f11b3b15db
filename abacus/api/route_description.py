"""The OpenAPI description of routes: what they read themselves, what they answer, and their problems."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import Path
from pydantic import BaseModel

from abacus.api.api_problem import KINDS, MEDIA_TYPE, ApiProblem
from abacus.api.idempotency import IDEMPOTENCY_KEY_HEADER
from abacus.core.ids import ID_PATTERN, IDEMPOTENCY_KEY_PATTERN

_OF_EVERY_ROUTE: Final = (400, 401, 403, 408, 413, 429, 431, 503)


MemberId = Annotated[str, Path(pattern=ID_PATTERN)]


def key_header(of: str) -> dict[str, Any]:
    """The header with the idempotency key of what is asked for, which `idempotency_key_of` reads."""
    return {
        "name": IDEMPOTENCY_KEY_HEADER,
        "in": "header",
        "required": True,
        "description": f"Yours: 1 to 255 visible characters. The same key and facts are the same {of}, for ever.",
        "schema": {"type": "string", "pattern": IDEMPOTENCY_KEY_PATTERN, "examples": ["order-1001"]},
    }


def described(
    *parameters: dict[str, Any], body: type[BaseModel] | None = None, required: bool = True
) -> dict[str, Any]:
    """The parameters and the body of a route that reads its body and headers itself."""
    if body is None:
        return {"parameters": list(parameters)}
    schema = body.model_json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)  # an answer brings these into the document
    return {
        "parameters": list(parameters),
        "requestBody": {"required": required, "content": {"application/json": {"schema": schema}}},
    }


def answered(
    answers: Mapping[int, tuple[type[BaseModel] | None, str]], *problems: int
) -> dict[int | str, dict[str, Any]]:
    """The answers of a route by status, each with its body and its meaning; and its problems, with the problems of
    every route.
    """
    responses: dict[int | str, dict[str, Any]] = {
        status: {"description": meaning} if body is None else {"model": body, "description": meaning}
        for status, (body, meaning) in answers.items()
    }
    for status in sorted({*_OF_EVERY_ROUTE, *problems}):
        examples = {
            kind: {"value": ApiProblem(kind).document("6f1c0c4e7b0f4c52")}
            for kind, (usual, _, _) in KINDS.items()
            if usual == status
        }
        responses[status] = {
            "description": "; ".join(title for usual, title, _ in KINDS.values() if usual == status),
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}},
        }
    return responses
