"""The schemas of the documents that people publish, for the manual: each is made of the form of its kind."""

from collections.abc import Iterable
from typing import Any

from abacus.documents.form.example import example
from abacus.documents.form.schema import schema
from abacus.documents.kind import DocumentKind


def schema_name(kind: DocumentKind[Any, Any]) -> str:
    """Under which the manual has the documents of a kind: RateCardDocument."""
    return f"{kind.noun.title().replace(' ', '')}Document"


def document_schemas(kinds: Iterable[DocumentKind[Any, Any]]) -> dict[str, Any]:
    """By their names, of the kinds that declare a form."""
    return {schema_name(each): _described(each) for each in kinds if each.form is not None}


def _described(kind: DocumentKind[Any, Any]) -> dict[str, Any]:
    if kind.form is None:
        raise TypeError(f"{kind.plural} declare no form")
    drawn = schema(kind.form)
    says = [f"A {kind.noun}, as `abacus {kind.command} publish` takes it in TOML or JSON.", drawn.get("description")]
    return {**drawn, "description": " ".join(filter(None, says)), "examples": [example(kind.form)]}
