"""An adjustment or a reversal as the document of an approval: exactly what takes effect when it is approved."""

from typing import Final, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from abacus.ledger.types.movement import Adjustment, Reversal
from abacus.people.decide.agreement import canonical
from abacus.people.types.approval import CannotExecute
from abacus.platform.validation import first_fault

Read = TypeVar("Read", Adjustment, Reversal)

# The approver is known later, and what one may do alone does not matter for what two agree on.
_NOT_ASKED: Final = frozenset({"approved_by", "alone", "sums"})

_ADJUSTMENT: Final = TypeAdapter(Adjustment)
_REVERSAL: Final = TypeAdapter(Reversal)


def document_of(movement: Adjustment | Reversal) -> str:
    fields = {name: value for name, value in movement._asdict().items() if name not in _NOT_ASKED}
    return canonical(orjson.loads(orjson.dumps(fields)))


def read_adjustment(document: str) -> Adjustment:
    """Raises `CannotExecute`."""
    return _read(_ADJUSTMENT, document)


def read_reversal(document: str) -> Reversal:
    """Raises `CannotExecute`."""
    return _read(_REVERSAL, document)


def _read(adapter: TypeAdapter[Read], document: str) -> Read:
    try:
        return adapter.validate_json(orjson.dumps(orjson.loads(document) | {"approved_by": None}))
    except (TypeError, ValueError) as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else error
        raise CannotExecute(f"the document cannot be read: {fault}") from None
