"""Names of actors and subjects as people say them: `person:cleo` is cleo. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.core.sources import CLOCK, IMPORT, STREAM

_WHOLE: Final[Mapping[str, str]] = {STREAM: "transactions", IMPORT: "import", CLOCK: "calendar"}
# What is said behind the name; people and members need nothing said.
_KINDS: Final[Mapping[str, str]] = {
    "person": "",
    "member": "",
    "login": "command line",
    "partner": "partner",
    "campaign": "campaign",
    "reward": "reward",
    "reward_pool": "pool of codes",
    "programme": "exchange programme",
    "journey": "journey",
    "exchange": "exchanges",
    "counter": "counter",
    "source": "source of events",
    "segment": "segment",
    "downstream": "downstream",
    "approval": "approval",
    "quarantine": "set aside",
}


def named(source: str | None) -> str:
    """`cleo` of `person:cleo`, `acme (partner)` of `partner:acme`; a text that is neither stays as it is."""
    if not source:
        return ""
    kind, colon, name = source.partition(":")
    if not colon or kind not in _KINDS:
        return _WHOLE.get(source, source)
    return f"{name} ({_KINDS[kind]})" if _KINDS[kind] else name
