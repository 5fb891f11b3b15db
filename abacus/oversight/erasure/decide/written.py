"""How a text may be written where documents are kept as text. Pure."""

import json
from typing import Final

_DEEP: Final = 3  # a document in the papers of a command is JSON in JSON, and may hold a text that is JSON


def written(text: str) -> list[str]:
    """The text, and the text as JSON and CSV write it, also within another document. A search for the text alone does
    not find an id with a quote, a backslash or a letter beyond ASCII there.
    """
    forms = {text}
    for _ in range(_DEEP):
        forms |= {again for each in forms for again in _once(each)}
    return sorted(forms)


def _once(text: str) -> tuple[str, str, str]:
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], text.replace('"', '""')
