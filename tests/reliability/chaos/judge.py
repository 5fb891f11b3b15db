"""The differences between the expected outcome of a run and the rows in the ledger and the quarantine. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.core.errors import Reason
from abacus.ledger.types.kinds import TransferKind
from abacus.platform.quarantine.types import Stage
from tests.reliability.chaos.expected import Expected, taken_back

NOTHING: Final[Mapping[str, int]] = MappingProxyType({})
_NAMED: Final = 5  # of faults of one kind


class Posted(NamedTuple):
    """A claim with its transfer. `due` and `expired` are set for the reversal of a refund."""

    key: str
    fingerprint: str
    member_id: str
    program: str
    points: int
    kind: str
    due: int | None = None
    expired: int | None = None


class Held(NamedTuple):
    """An item of the quarantine."""

    stage: str
    origin: str
    reason: str
    key: str | None
    fingerprint: str | None


def faults_of_postings(expected: Expected, postings: Iterable[Posted], *, may_expire: bool) -> list[str]:
    """Postings that should not be there, postings that are missing, and postings that are wrong."""
    points: dict[str, int] = {}
    due: dict[str, int] = {}
    wrong: list[str] = []
    unexpected: list[str] = []
    for posted in postings:
        award = expected.awards.get(posted.key, {}).get(posted.fingerprint)
        refund = expected.refunds.get(posted.key)
        if award is not None:
            points[posted.key] = posted.points
            if award != posted[: len(award)]:
                wrong.append(f"{posted.key}: {posted.points} points for {posted.member_id}, not {award.points}")
        elif refund is not None and (refund.fingerprint, posted.kind) == (posted.fingerprint, TransferKind.REVERSE):
            points[posted.key] = posted.points
            due[refund.of] = due.get(refund.of, 0) + (posted.due or 0)
            if posted.points != (posted.expired or 0) - (posted.due or 0):
                wrong.append(f"{posted.key}: {posted.points} points of {posted.due} due")
        elif not (may_expire and posted.kind == TransferKind.EXPIRE):
            unexpected.append(posted.key)
    missing = (expected.awards.keys() | expected.refunds.keys()) - points.keys()
    if not missing:
        shares = taken_back(expected.refunds.values(), points)
        wrong += [f"refunds of {of} took {due[of]}, not {share}" for of, share in shares.items() if due[of] != share]
    return [
        *few("in the topic, but never sent", expected.unknown),
        *few("not posted", missing),
        *few("posted wrongly", wrong),
        *few("posted, but never sent", unexpected),
    ]


def faults_of_quarantine(
    expected: Expected, posted: Sequence[Posted], held: Iterable[Held], beside: Mapping[str, int] = NOTHING
) -> list[str]:
    """Items that should not be set aside, items that are missing, and items with another reason. `beside` counts those
    that were never in the topic: by key or origin, and reason.
    """
    aside: dict[str, str] = {}
    contradicting: set[tuple[str | None, str | None]] = set()
    other: Counter[str] = Counter()
    for item in held:
        if item.stage == Stage.EVENT:
            continue  # the counter reads the same topic: tests/reliability/chaos/counted.py
        if item.stage == Stage.TRANSACTION:
            aside[item.origin] = item.reason
        elif item.reason == Reason.KEY_CONFLICT:
            contradicting.add((item.key, item.fingerprint))
        else:
            other[f"{item.key or item.origin}: {item.reason}"] += 1
    beaten = expected.conflicts - {(each.key, each.fingerprint) for each in posted}
    return [
        *few("not set aside", expected.aside.keys() - aside.keys()),
        *few("set aside for nothing", aside.keys() - expected.aside.keys()),
        *few(
            "set aside otherwise",
            [each for each in expected.aside if aside.get(each, "") not in {"", expected.aside[each]}],
        ),
        *few("contradicts, and not set aside", beaten - contradicting),
        *few("set aside as if it contradicted", contradicting - beaten),
        *few("set aside, of awards", (other - Counter(beside)).elements()),
        *few("not set aside, of awards", (Counter(beside) - other).elements()),
    ]


def few(what: str, cases: Iterable[object]) -> Iterator[str]:
    """A line that names the first of these cases and says how many more there are; no line where there are none."""
    each = sorted(map(str, cases))
    if each:
        more = f" and {len(each) - _NAMED:,} more" if len(each) > _NAMED else ""
        yield f"{what}: {'; '.join(each[:_NAMED])}{more}"
