"""A form with a file, as browsers send it: its fields, and the text of its files. Pure."""

import re
from collections.abc import Iterator
from typing import Final

MEDIA_TYPE: Final = "multipart/form-data"
_BOUNDARY: Final = re.compile(r'\bboundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))')
_NAME: Final = re.compile(
    rb'^content-disposition:\s*form-data\b[^\r\n]*?;\s*name="([^"\r\n]*)"', re.IGNORECASE | re.MULTILINE
)
_BETWEEN: Final = b"\r\n\r\n"


def parts_of(content_type: str, body: bytes) -> Iterator[tuple[str, str]]:
    """The name and the text of each part. Raises `ValueError` for a body that is no such form, or no UTF-8."""
    match = _BOUNDARY.search(content_type)
    if match is None:
        raise ValueError("no boundary")
    line = b"--" + (match[1] or match[2]).encode()
    _, *parts = (b"\r\n" + body).split(b"\r\n" + line)
    if not parts or not parts[-1].startswith(b"--"):
        raise ValueError("the form is cut off")
    for part in parts[:-1]:
        head, between, text = part.partition(_BETWEEN)
        name = _NAME.search(head)
        if name is None or not between:
            raise ValueError("a part without a name")
        yield name[1].decode(), text.decode()
