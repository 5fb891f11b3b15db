"""What a walk does, as rows that wait to be handed over."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import orjson
import pytest

from abacus.core.errors import SetAside
from abacus.engage.actions.decide.templates import restored
from abacus.engage.actions.types import AWARDS, INVITATIONS, MESSAGES, REDEMPTIONS, PlannedAction
from abacus.engage.journeys.decide.effects import Standing, planned
from abacus.engage.journeys.decide.visit import Visitor
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Journeyed
from abacus.signals.events.types import Value
from tests.engage.campaigns.offers import CARDS, NOW, order
from tests.engage.journeys.examples import armed, nodes, visitor, walked

FLIES: Final[Mapping[str, Value]] = {"flies_at": datetime(2026, 5, 4, 2, 0, tzinfo=UTC), "seats": 2}


def _action(do: dict[str, Any], who: Visitor | None = None, **changes: Any) -> PlannedAction:
    of = armed(**{**nodes("it", it={"do": do, "next": "done"}), **changes})
    who = who or visitor()
    (effect,) = walked(of, who).effects
    return planned(effect, Standing(of.journey, who, CARDS["SG"], "member"), NOW)


def _document(action: PlannedAction) -> Any:
    return orjson.loads(action.document)


def test_points_are_explained_by_the_journey() -> None:
    action = _action({"award": {"points": 50}}, visitor(visit=3))
    assert (action.receiver, action.key, action.owner_kind, action.owner) == (
        AWARDS,
        "journey:welcome:3:bob:2",
        "journey",
        "welcome",
    )
    assert (action.version, action.step, action.number, action.due_at, action.event) == (1, 2, 0, NOW, None)
    award = _document(action)
    assert (award["key"], award["points"], award["activity"], award["source"]) == (
        action.key,
        50,
        False,
        "journey:welcome",
    )
    why = read(orjson.dumps(award["explanation"]))
    assert why == Journeyed(journey="welcome@1", visit=3, node=2, card=CARDS["SG"].name, points=50)


def test_points_follow_from_the_transaction_of_the_entry() -> None:
    action = _action({"award": {"multiple": "2"}}, visitor(facts=order(1, amount=Decimal("15.00"))))
    why = read(orjson.dumps(_document(action)["explanation"]))
    assert isinstance(why, Journeyed)
    assert why.formula is not None
    assert why.formula.multiple == "2"
    assert why.points == _document(action)["points"] > 0


def test_a_transaction_that_the_card_does_not_price_is_set_aside() -> None:
    with pytest.raises(SetAside, match="currency IDR"):
        _action({"award": {"multiple": "2"}}, visitor(facts=order(1, currency="IDR")))


def test_a_message_has_the_event_and_the_context() -> None:
    do = {"tell": {"en": "Off\n{{ context.seats }} seats"}}
    by_call = {"priority": 7, "entry": {"api": True}, "context": {"flies_at": "time", "seats": "integer"}}
    action = _action(do, visitor(context=FLIES), **by_call)
    assert action.receiver == MESSAGES
    told = _document(action)
    assert (told["country"], told["templates"], told["priority"]) == ("SG", do["tell"], 7)
    fields = restored(told["fields"])
    assert fields["context"] == FLIES
    assert fields["event"]["member_id"] == "bob"


def test_a_webhook_is_told_where_the_member_is() -> None:
    told = _document(_action({"call": "crm"}))
    assert {name: told[name] for name in ("journey", "version", "visit", "node", "turn", "arm", "member_id")} == {
        "journey": "welcome",
        "version": 1,
        "visit": 1,
        "node": "it",
        "turn": 0,
        "arm": None,
        "member_id": "bob",
    }
    assert told["event"]["id"] == order(1).id


@pytest.mark.parametrize(
    ("grant", "receiver"), [({"offer": "lunch_invited"}, INVITATIONS), ({"reward": "coffee"}, REDEMPTIONS)]
)
def test_what_is_granted(grant: dict[str, str], receiver: str) -> None:
    action = _action({"grant": grant})
    assert (action.receiver, _document(action)) == (receiver, grant)


def test_another_journey_gets_its_context() -> None:
    action = _action({"start": {"journey": "farewell", "context": {"reason": "var.vertical", "points": 5}}})
    assert (action.kind, action.receiver, action.key) == ("start", "journey:farewell", "journey:welcome:1:bob:2")
    assert _document(action) == {"start": {"reason": "food", "points": 5}}


def test_another_journey_ends() -> None:
    action = _action({"end": {"journey": "herd"}})
    assert (action.kind, action.receiver, _document(action)) == (
        "end",
        "journey:herd",
        {"end": "ended by journey welcome"},
    )
