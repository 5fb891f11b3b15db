"""Names of versions, as people write them: "weather@3", or "weather" for the latest. Pure."""

import re

from abacus.core.errors import Refused


class Labels:
    """The labels of one kind, by the pattern of its names. Versions count from `first`."""

    def __init__(self, thing: str, pattern: str, example: str, *, first: int = 1) -> None:
        number = "0|[1-9][0-9]{0,8}" if first == 0 else "[1-9][0-9]{0,8}"
        self._pattern = re.compile(rf"(?P<name>{pattern})(?:@(?P<version>{number}))?")
        self._refusal = f"does not name a {thing}; write a name such as {example}, or a version such as {example}@3"

    def split(self, label: str) -> tuple[str, int | None]:
        """The name and the version, if one is given. Raises `Refused`."""
        match = self._pattern.fullmatch(label)
        if match is None:
            raise Refused(f"{label!r} {self._refusal}")
        version = match["version"]
        return match["name"], int(version) if version else None
