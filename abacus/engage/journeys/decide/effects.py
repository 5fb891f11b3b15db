"""The actions that follow from a walk: each as a row that waits to be handed over. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson

from abacus.core.ids import fingerprint
from abacus.core.sources import journey_source
from abacus.engage.actions.decide.deeds import Award, Call, Deed, Grant, Granted, Publish, Tell
from abacus.engage.actions.decide.templates import kept
from abacus.engage.actions.types import AWARDS, EVENTS, INVITATIONS, MESSAGES, REDEMPTIONS, PlannedAction
from abacus.engage.campaigns.decide.worth import Worth, worth_of
from abacus.engage.journeys.decide.context import context_document
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.node import End, Start
from abacus.engage.journeys.decide.orders import Asking, OrderKind, end_order, start_order
from abacus.engage.journeys.decide.visit import Effect, Visitor
from abacus.engage.journeys.decide.words import message_fields
from abacus.ledger.types.award_envelope import Award as PointsAward
from abacus.ledger.types.award_envelope import encode_award
from abacus.ledger.types.kinds import TransferKind
from abacus.pricing.decide.card import Expiry, PublishedCard
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Journeyed
from abacus.programs.expiry.decide.month import last_good_day
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.types import Event, Value

_GRANTED_BY: Final = {Granted.OFFER: INVITATIONS, Granted.REWARD: REDEMPTIONS}
_CONTEXT: Final = "context."
_VARIABLE: Final = "var."


class Standing(NamedTuple):
    """A member in a visit, with the card of the journey's country and the tier, by which points are awarded."""

    journey: Journey
    visitor: Visitor
    card: PublishedCard
    tier: str


def kind_of(deed: Deed | Start | End) -> str:
    """The kind of the action that it becomes."""
    match deed:
        case Start():
            return OrderKind.START
        case End():
            return OrderKind.END
        case _:
            return deed.kind


def planned(effect: Effect, of: Standing, now: datetime) -> PlannedAction:
    """What is to be done now. Raises `SetAside` for an award by a transaction that the card does not price."""
    deed, member_id = effect.deed, of.visitor.member_id
    owner, version = of.journey.owner, of.journey.version
    if isinstance(deed, Start | End):
        asking = Asking(deed.journey, member_id, effect.key, *owner, version, effect.node.number, effect.arm)
        if isinstance(deed, End):
            return end_order(asking, now)
        return start_order(asking, context_document(_context_of_start(deed, of.visitor)), now)
    receiver, document = _document(effect, deed, of, now)
    return PlannedAction(
        member_id=member_id,
        key=effect.key,
        number=0,
        owner_kind=owner.kind,
        owner=owner.name,
        version=version,
        step=effect.node.number,
        variant=effect.arm,
        kind=deed.kind,
        receiver=receiver,
        due_at=now,
        document=document,
        event=None,
    )


def _context_of_start(start: Start, visitor: Visitor) -> Mapping[str, Value]:
    """The context with which the member enters the other journey; a field is missing where the event has no value."""
    return {**start.constants, **_copied(start.copied, visitor)}


def _document(effect: Effect, deed: Deed, of: Standing, now: datetime) -> tuple[str, bytes]:
    """The receiver, and what it gets."""
    match deed:
        case Award():
            worth = worth_of(deed, of.visitor.facts, of.card, of.tier)
            return AWARDS, encode_award(_award(effect, of, worth, now))
        case Tell(templates):
            fields = message_fields(of.journey.name, of.visitor.facts, of.visitor.context)
            told = {"country": of.journey.country, "templates": dict(templates), "fields": kept(fields)}
            return MESSAGES, orjson.dumps({**told, "priority": of.journey.priority, "terms": _terms(of.journey)})
        case Call(webhook):
            return f"webhook:{webhook}", orjson.dumps(_told(effect, of, now))
        case Publish(type_, constants, copied):
            values = {**constants, **_copied(copied, of.visitor)}
            event = Event(*type_, effect.key, of.visitor.member_id, of.journey.country, now, values)
            return EVENTS, encode_event(event)
        case Grant(what, name):
            return _GRANTED_BY[what], orjson.dumps({what.value: name})


def _terms(journey: Journey) -> dict[str, object]:
    """What the journey asks for its messages, wherever they wait."""
    quiet = None if journey.quiet_hours is None else list(journey.quiet_hours)
    return {"kind": journey.kind, "quiet_hours": quiet, "timezone": journey.timezone}


def _copied(copied: Mapping[str, str], visitor: Visitor) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, text in copied.items():
        is_context = text.startswith(_CONTEXT)
        values = visitor.context if is_context else visitor.facts.variables
        field = text.removeprefix(_CONTEXT if is_context else _VARIABLE)
        if field in values:
            found[name] = values[field]
    return found


def _award(effect: Effect, of: Standing, worth: Worth, now: datetime) -> PointsAward:
    """The points are of the moment at which the member comes to the node. A deed that is planned again, because a
    process died, has the key of before and may have another moment, so that is no part of the fingerprint.
    """
    card, member_id = worth.card.card, of.visitor.member_id
    explanation = Journeyed(
        journey=of.journey.label,
        visit=of.visitor.visit,
        node=effect.node.number,
        turn=effect.turn or None,
        arm=effect.arm,
        card=worth.card.name,
        formula=worth.formula,
        points=worth.points,
    )
    return PointsAward(
        key=effect.key,
        member_id=member_id,
        program=card.program,
        country=of.journey.country,
        kind=TransferKind.EARN,
        points=worth.points,
        occurred_at=now,
        expires_on=last_good_day(now, card.zone, card.expiry_months),
        activity=False,  # a gift is not a transaction: it does not keep other points alive
        fingerprint=fingerprint((effect.key, member_id)),
        explanation=text_of(explanation),
        source=journey_source(of.journey.name),
        lifetime=card.expiry is Expiry.LIFETIME,
    )


def _told(effect: Effect, of: Standing, now: datetime) -> dict[str, Any]:
    visitor = of.visitor
    return {
        "journey": of.journey.name,
        "version": of.journey.version,
        "visit": visitor.visit,
        "node": effect.node.name,
        "turn": effect.turn,
        "arm": effect.arm,
        "key": effect.key,
        "member_id": visitor.member_id,
        "decided_at": now,
        "context": context_document(visitor.context),
        "event": orjson.Fragment(encode_event(visitor.facts)) if of.journey.entry.on else None,
    }
