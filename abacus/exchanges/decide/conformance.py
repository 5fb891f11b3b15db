"""The report of a run of the conformance kit: what it says, and the signature by which the house knows it. Pure."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson

from abacus.core.errors import Refused
from abacus.core.webhook_secret import PREFIX

CONTRACT: Final = "1.0"
_SIGNS: Final = b"exchange-conformance-report\n"  # no signature of a request begins so
# Cases that a partner which forgets its refusals does not pass. Points come back at its tombstones alone.
REMEMBERING: Final = ("refused-repeat", "refused-at-once", "refused-with-an-open-account", "refused-get")
REVERSING: Final = "reverse"


class Outcome(StrEnum):
    """How a case ended."""

    GREEN = "green"
    RED = "red"
    SKIPPED = "skipped"  # the partner does not offer that


class Played(NamedTuple):
    """A case that was played."""

    name: str
    about: str
    outcome: Outcome
    detail: str | None
    seconds: float


class Run(NamedTuple):
    """A run against a server."""

    url: str
    kit: str
    began_at: datetime
    ended_at: datetime
    played: Sequence[Played]

    @property
    def is_green(self) -> bool:
        return bool(self.played) and all(each.outcome is not Outcome.RED for each in self.played)


def report(run: Run, secret: str) -> dict[str, Any]:
    """The report, with its digest and its signature."""
    outcomes = {each.name: each.outcome for each in run.played}
    document: dict[str, Any] = {
        "contract": CONTRACT,
        "kit": run.kit,
        "url": run.url,
        "began_at": run.began_at.astimezone(UTC).isoformat(),
        "ended_at": run.ended_at.astimezone(UTC).isoformat(),
        "green": run.is_green,
        "remembers_refusals": all(outcomes.get(name) is Outcome.GREEN for name in REMEMBERING),
        "reverses": outcomes.get(REVERSING) is Outcome.GREEN,
        "counts": {each.value: sum(one.outcome is each for one in run.played) for each in Outcome},
        "cases": [{**each._asdict(), "seconds": round(each.seconds, 3)} for each in run.played],
    }
    return {
        **document,
        "digest": hashlib.sha256(_canonical(document)).hexdigest(),
        "signature": _sign(document, secret),
    }


def check_report(document: Mapping[str, Any], secret: str) -> None:
    """Raises `Refused` for a report that was changed, or signed with another key."""
    told = {name: value for name, value in document.items() if name not in {"digest", "signature"}}
    if document.get("digest") != hashlib.sha256(_canonical(told)).hexdigest():
        raise Refused("the report was changed: its digest is another one")
    if not hmac.compare_digest(str(document.get("signature")).encode(), _sign(told, secret).encode()):
        raise Refused("the report is not signed with this key")


def _sign(document: Mapping[str, Any], secret: str) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.new(key, _SIGNS + _canonical(document), hashlib.sha256).digest()).decode()


def _canonical(document: Mapping[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
