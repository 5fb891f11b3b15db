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
WRITTEN: Final[Mapping[Path, Path]] = {
    SOURCE: TARGET,
    SOURCE.with_name("async_exchanges.py"): SOURCE.with_name("exchanges.py"),
    SOURCE.with_name("async_journeys.py"): SOURCE.with_name("journeys.py"),
    SOURCE.with_name("async_offers.py"): SOURCE.with_name("offers.py"),
    SOURCE.with_name("async_rewards.py"): SOURCE.with_name("rewards.py"),
}

_HEADER: Final = "# Generated from {} by `python client/generate_sync.py`; changes belong there.\n"
_DROPPED: Final = frozenset({"async", "await"})
_NAMES: Final[Mapping[str, str]] = {
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "AsyncExchangeCalls": "ExchangeCalls",
    "AsyncIterator": "Iterator",
    "AsyncJourneyCalls": "JourneyCalls",
    "AsyncOfferCalls": "OfferCalls",
    "AsyncRewardCalls": "RewardCalls",
    "AsyncSleep": "Sleep",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "aclose": "close",
    "async_exchanges": "exchanges",
    "async_journeys": "journeys",
    "async_offers": "offers",
    "async_rewards": "rewards",
    "asyncio": "time",  # of which only `sleep` is used
}
_WORDS: Final[Mapping[str, str]] = {
    "for asyncio; `blocking.py` is generated from this file": "that blocks until an answer comes",
    "the client for asyncio asks about exchanges with partners; `exchanges.py` is generated from this file": (
        "the blocking client asks about exchanges with partners"
    ),
    "the client for asyncio asks of journeys; `journeys.py` is generated from this file": (
        "the blocking client asks of journeys"
    ),
    "the client for asyncio asks and takes of offers; `offers.py` is generated from this file": (
        "the blocking client asks and takes of offers"
    ),
    "the client for asyncio asks about rewards, and about what points pay; `rewards.py` is generated from this\nfile": (
        "the blocking client asks about rewards, and about what points pay"
    ),
    "by the tasks of a loop": "by threads",
}


def blocking(source: str, name: str = SOURCE.name) -> str:
    """The source without its `async` and `await`, and with the names of the blocking counterparts."""
    return _HEADER.format(name) + _tidied(tokenize.untokenize(_changed(source)))


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


def main(arguments: list[str], written: Mapping[Path, Path] = WRITTEN) -> int:
    drifted = []
    for source, target in written.items():
        wanted = blocking(source.read_text(encoding="utf-8"), source.name)
        if "--check" not in arguments:
            target.write_text(wanted, encoding="utf-8")
        elif target.read_text(encoding="utf-8") != wanted:
            drifted.append(target.name)
    if not drifted:
        return 0
    sys.stderr.write(f"{', '.join(drifted)} drifted; run `python client/generate_sync.py` and commit it\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
