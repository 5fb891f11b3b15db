"""Requests about offers in files, written as the API takes them, and objections to them as a command tells these."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from abacus.api.api_problem import ApiProblem
from abacus.core.errors import Refused, SetAside
from abacus.engage.offers.qualifier import OtherCountry
from abacus.intake.partners.decide.ask import Objection
from abacus.platform.validation import first_fault

Body = TypeVar("Body", bound=BaseModel)
_STANDARD_INPUT: Final = Path("-")


def json_of(file: Path) -> Any:
    """The JSON of a file, or of standard input. Raises `Refused`."""
    try:
        return orjson.loads(sys.stdin.buffer.read() if file == _STANDARD_INPUT else file.read_bytes())
    except (OSError, ValueError) as error:
        raise Refused(f"{file}: {error}") from None


def body_of(file: Path, body: type[Body]) -> Body:
    """Raises `Refused`."""
    try:
        return body.model_validate(json_of(file))
    except ValidationError as error:
        raise Refused(f"{file}: {first_fault(error)}") from None


@contextmanager
def refusing(where: object) -> Iterator[None]:
    """What does not fit a country is a refusal of a command; `where` begins its line."""
    try:
        yield
    except (SetAside, Objection, OtherCountry) as fault:
        raise Refused(f"{where}: {fault}") from None
    except ApiProblem as fault:
        first = fault.errors[0] if fault.errors else None
        said = fault.detail if first is None else f"{first.pointer}: {first.detail}"
        raise Refused(f"{where}: {said}") from None
