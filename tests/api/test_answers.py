"""The examples of the OpenAPI document are what the API answers."""

import inspect
from typing import Any

import pytest
from pydantic import BaseModel

from abacus.api import answer_schemas, api_problem, preferences


def examples() -> list[tuple[type[BaseModel], dict[str, Any]]]:
    models = {
        model
        for module in (answer_schemas, api_problem, preferences)
        for _, model in inspect.getmembers(module, inspect.isclass)
        if issubclass(model, BaseModel) and model.__module__ == module.__name__
    }
    told: list[tuple[type[BaseModel], Any]] = [
        (model, model.model_config.get("json_schema_extra")) for model in sorted(models, key=lambda each: each.__name__)
    ]
    return [(model, each) for model, extra in told if extra for each in extra["examples"]]


@pytest.mark.parametrize(("model", "example"), examples())
def test_an_example_is_of_its_kind_and_names_every_field_that_is_always_there(
    model: type[BaseModel], example: dict[str, Any]
) -> None:
    read = model.model_validate(example)
    assert set(example) <= set(model.model_fields)
    assert read.model_dump(mode="json", exclude_unset=True) == example
