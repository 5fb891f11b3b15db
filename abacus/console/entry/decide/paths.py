"""Where a browser may be sent after it was let in: to a page of this console, nowhere else. Pure."""

import re
from typing import Final

HOME: Final = "/"
# No second slash and no backslash, which browsers take for one: either would name another host. No control characters.
_LOCAL: Final = re.compile(r"/(?![/\\])[!-\[\]-~]{0,1999}")


def local_path(text: str | None) -> str:
    """The path if it is one of ours, or else the first page."""
    return text if text is not None and _LOCAL.fullmatch(text) else HOME
