"""Writes the blocking client from the awaited one: `python client/generate_sync.py`, or `--check` in CI.

Tokens are changed one by one, so that comments and docstrings stay; ruff sorts the imports and formats the result.
"""

import io
import subprocess
import sys
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parent / "abacus_client" / "asynchronous.py"
TARGET: Final = SOURCE.with_name("blocking.py")

_HEADER: Final = "# Generated from asynchronous.py by `python client/generate_sync.py`; changes belong there.\n"
_DROPPED: Final = frozenset({"async", "await"})
_NAMES: Final[Mapping[str, str]] = {
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "AsyncIterator": "Iterator",
    "AsyncSleep": "Sleep",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "asyncio": "time",  # of which only `sleep` is used
}
_WORDS: Final[Mapping[str, str]] = {
    "for asyncio; `blocking.py` is generated from this file": "that blocks until an answer comes",
    "by the tasks of a loop": "by threads",
}


def blocking(source: str) -> str:
    """The source without its `async` and `await`, and with the names of the blocking counterparts."""
    return _HEADER + _tidied(tokenize.untokenize(_changed(source)))


def _changed(source: str) -> Iterator[tuple[int, str]]:
    for kind, text, *_ in tokenize.generate_tokens(io.StringIO(source).readline):
        if kind == tokenize.STRING:
            yield kind, _reworded(text)
        elif text not in _DROPPED:
            yield kind, _NAMES.get(text, text)


def _reworded(text: str) -> str:
    for words, instead in _WORDS.items():
        text = text.replace(words, instead)
    return text


def _tidied(source: str) -> str:
    for command in (["format"], ["check", "--fix-only", "--unsafe-fixes", "--select=I,UP028"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", str(TARGET), "-"]
        source = subprocess.run(ruff, input=source, capture_output=True, text=True, check=True).stdout  # noqa: S603  # our own ruff
    return source


def main(arguments: list[str], target: Path = TARGET) -> int:
    wanted = blocking(SOURCE.read_text(encoding="utf-8"))
    if "--check" not in arguments:
        target.write_text(wanted, encoding="utf-8")
        return 0
    if target.read_text(encoding="utf-8") == wanted:
        return 0
    sys.stderr.write(f"{target.name} drifted; run `python client/generate_sync.py` and commit it\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
