"""Every message that was not processed is in exactly one place, with its reason."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from abacus.core.errors import Reason
from abacus.intake.earning.decide.transaction import read_transaction
from abacus.platform.quarantine.store import HELD
from abacus.platform.quarantine.types import HeldItem, Item, Stage
from tests.reliability.simulation.oracle import Aside
from tests.reliability.simulation.simulation import Finished
from tests.reliability.simulation.strays import STRAYS
from tests.reliability.simulation.violation import invariant
from tests.reliability.simulation.workload import Sent
from tests.support.memory_log import Stored

_LONG: Final = 200

# The fields that say where an item lies and why: the tests expect them, and look an item up by them.
Place = tuple[object, ...]


def everything_is_in_one_place(run: Finished, fingerprints: Mapping[str, set[str]]) -> None:
    """`fingerprints` holds the fingerprints of all messages with a key: one is posted, the rest are conflicts."""
    kept = run.simulated.quarantine.kept()
    by_place: defaultdict[Place, list[HeldItem]] = defaultdict(list)
    for held in kept:
        by_place[_place_of(held.item)].append(held)
    accounted: set[str] = set()
    with invariant("everything is in one place") as violated:
        for what, place in (*_bad_messages(run), *_conflicts(run, fingerprints), *_strays()):
            items = by_place[place]
            if not items:
                violated(f"{what}: not in the quarantine as {place}")
            if any(held.status != HELD for held in items):
                violated(f"{what}: did not come back after its replay")
            accounted |= {held.item.id for held in items}
        for held in kept:
            if held.item.id not in accounted:
                _was_replayed_for_good(run, held)


def _was_replayed_for_good(run: Finished, held: HeldItem) -> None:
    """A good message is set aside only when its dependency was down for too long."""
    with invariant("everything is in one place") as violated:
        if held.status == HELD:
            violated(f"set aside without need: {held}")
        if held.item.reason is not Reason.RETRIES_EXHAUSTED:
            violated(f"set aside for a while: {held}")
        if run.simulated.patient:
            violated(f"given up long before its time: {held}")


def _bad_messages(run: Finished) -> Iterator[tuple[str, Place]]:
    for sent, stored in run.delivered:
        if isinstance(sent.verdict, Aside):
            shown = sent.message.value[:_LONG].decode(errors="backslashreplace")
            yield shown, _place_of_bad(sent.verdict.reason, sent, stored)


def _place_of_bad(reason: Reason, sent: Sent, stored: Stored) -> Place:
    if reason is Reason.UNPOSTABLE:
        return (reason, Stage.AWARD, f"award:{read_transaction(sent.message.value).key}")
    origin = f"kafka:{stored.topic}/{stored.partition}/{stored.offset}"
    return (reason, Stage.TRANSACTION, origin, _told(Stage.TRANSACTION, stored.value))


def _conflicts(run: Finished, fingerprints: Mapping[str, set[str]]) -> Iterator[tuple[str, Place]]:
    for key, rivals in fingerprints.items():
        posted = run.books.claims[key].fingerprint
        for loser in sorted(rivals - {posted}):
            yield f"a conflict over {key}", (Reason.KEY_CONFLICT, Stage.AWARD, key, loser, posted)


def _strays() -> Iterable[tuple[str, Place]]:
    for stray in STRAYS:
        origin = stray.read_as or stray.queue
        yield f"the stray {stray.body}", (stray.reason, stray.stage, origin, _told(stray.stage, stray.set_aside))


def _place_of(item: Item) -> Place:
    if item.reason is Reason.KEY_CONFLICT:
        return (item.reason, item.stage, item.key, item.fingerprint, item.posted_fingerprint)
    if item.reason is Reason.UNPOSTABLE:
        return (item.reason, item.stage, item.origin)
    return (item.reason, item.stage, item.origin, _told(item.stage, item.body))


def _told(stage: Stage, body: bytes) -> object:
    """The part of a body that has to be kept: every byte, or the content of an award that came in an envelope."""
    return json.dumps(json.loads(body), sort_keys=True) if stage is Stage.AWARD else body
