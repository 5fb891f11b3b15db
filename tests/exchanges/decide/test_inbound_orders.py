"""Every order of a partner's messages to the house, which is the taker here."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import pytest

from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.inbound import (
    Against,
    Asked,
    Ended,
    Refusal,
    Taker,
    awarded,
    buried,
    cancelled,
    committed,
    left,
    refused,
    reserved,
)
from tests.exchanges.decide.test_orders import can_come_to, walk
from tests.support.exchanged import NOW, SKYMILES

_ASKED: Final = Asked("skylines", "T-1", "4711", 1000, "4711 1000")
_LATER: Final = NOW + 2 * SKYMILES.late_after
_KEPT: Final = frozenset({State.COMMITTED, State.AWARDED})


class Both(NamedTuple):
    """Where the giver is, our row, and what is on the wire."""

    giver: str
    ours: Exchange | None
    wire: frozenset[str]


def _following(both: Both) -> Iterator[Both]:
    giver, ours, wire = both
    sends = {"holding": ("put", "cancel"), "committing": ("commit", "cancel"), "cancelling": ("cancel",)}
    for message in sends.get(giver, ()):
        yield Both("cancelling" if message == "cancel" else giver, ours, wire | {message})
    if ours is not None:
        yield Both(giver, awarded(ours, NOW), wire)
        yield Both(giver, left(ours, _LATER), wire)
    for message in wire:
        if message.endswith("!"):
            yield Both(_heard(giver, message), ours, wire)
        else:
            for then in _arrived(message, ours):
                yield Both(giver, then, wire | {f"{'none' if then is None else then.state}!"})


def _heard(giver: str, message: str) -> str:
    match giver, message:
        case "holding", "reserved!":
            return "committing"
        case (("holding" | "committing" | "cancelling"), "dropped!"):
            return "released"
        case (("holding" | "committing" | "cancelling"), ("committed!" | "awarded!")):
            return "captured"
        case _:
            return giver


def _arrived(message: str, ours: Exchange | None) -> Iterator[Exchange | None]:
    match message, ours:
        case "put", None:
            yield reserved(_ASKED, SKYMILES, Taker(_ASKED.exchange_id, "bob"), 1500, NOW)
            yield refused(_ASKED, SKYMILES, None, Against(Refusal.ACCOUNT_UNKNOWN, "nobody has it"), NOW)
        case "commit", Exchange():
            yield committed(ours, SKYMILES, NOW)
        case "cancel", Exchange():
            yield cancelled(ours, NOW)
        case "cancel", None:
            yield buried("skylines", "T-1", NOW)
        case _:
            yield ours


def test_points_are_in_one_house_and_both_come_to_an_end() -> None:
    found = walk(Both("holding", None, frozenset()), _following)
    for both in found:
        state = None if both.ours is None else both.ours.state
        assert both.giver != "released" or state is State.DROPPED
        assert both.giver != "captured" or state in _KEPT
        if state is State.DROPPED:
            assert all(then.ours == both.ours for then in found[both])
    assert can_come_to(found, lambda both: both.giver in {"released", "captured"}) == set(found)


@pytest.mark.parametrize("ask", ["commit", "cancel", "put"])
def test_what_was_dropped_is_refused_for_ever(ask: str) -> None:
    tomb = buried("skylines", "T-1", NOW)
    assert list(_arrived(ask, tomb)) == [tomb]
    assert (tomb.state, tomb.reason, tomb.reference) == (State.DROPPED, Ended.CANCELLED, "T-1")
