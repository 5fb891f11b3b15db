"""The actions that follow from a run: each as a row that waits for its time. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import orjson

from abacus.core.ids import fingerprint
from abacus.core.sources import campaign_source
from abacus.engage.actions.decide.deeds import Action, Award, Call, Grant, Granted, Publish, Tell
from abacus.engage.actions.decide.templates import fields_of, kept
from abacus.engage.actions.types import AWARDS, EVENTS, INVITATIONS, MESSAGES, REDEMPTIONS, PlannedAction
from abacus.engage.campaigns.decide.campaign import Step
from abacus.engage.campaigns.decide.run import Run
from abacus.engage.campaigns.decide.worth import Worth
from abacus.ledger.types.award_envelope import Award as PointsAward
from abacus.ledger.types.award_envelope import encode_award
from abacus.ledger.types.kinds import TransferKind
from abacus.pricing.decide.card import Expiry
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Campaigned
from abacus.programs.expiry.decide.month import last_good_day
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.types import Event

_GRANTED_BY: Final = {Granted.OFFER: INVITATIONS, Granted.REWARD: REDEMPTIONS}


def actions_of(run: Run, now: datetime) -> Iterator[PlannedAction]:
    """What is to be done for a run, decided now."""
    for step in run.matched.campaign.steps:
        if step.number in run.steps:
            for number, action in enumerate(step.actions):
                yield _due(run, step, number, action, now)


def _due(run: Run, step: Step, number: int, action: Action, now: datetime) -> PlannedAction:
    matched, campaign = run.matched, run.matched.campaign
    receiver, document = _document(run, step, action, now)
    return PlannedAction(
        member_id=matched.member_id,
        key=matched.effect_key(step.number),
        number=number,
        owner_kind=campaign.owner.kind,
        owner=campaign.owner.name,
        version=campaign.version,
        step=step.number,
        variant=run.variant,
        kind=action.deed.kind,
        receiver=receiver,
        due_at=action.due(now, campaign.zone),
        document=document,
        event=encode_event(matched.event) if action.guards else None,
    )


def _document(run: Run, step: Step, action: Action, now: datetime) -> tuple[str, bytes]:
    """The receiver, and what it gets."""
    matched = run.matched
    match action.deed:
        case Award():
            return AWARDS, encode_award(_award(run, step, matched.worth[step.number]))
        case Tell(templates):
            points = matched.worth[step.number].points if step.number in matched.worth else 0
            fields = fields_of(matched.event, campaign=matched.campaign.name, count=run.count or 1, points=points)
            told = {"country": matched.campaign.country, "templates": dict(templates), "fields": kept(fields)}
            return MESSAGES, orjson.dumps({**told, "priority": matched.campaign.priority})
        case Call(webhook):
            return f"webhook:{webhook}", orjson.dumps(_told(run, step, now))
        case Publish(type_, constants, copied):
            values = matched.event.variables
            found = {name: values[of] for name, of in copied.items() if of in values}
            event = Event(
                type_[0],
                type_[1],
                f"{matched.effect_key(step.number)}/{step.actions.index(action)}",
                matched.member_id,
                matched.event.country,
                now,
                {**constants, **found},
            )
            return EVENTS, encode_event(event)
        case Grant(what, name):
            return _GRANTED_BY[what], orjson.dumps({what.value: name})


def _award(run: Run, step: Step, worth: Worth) -> PointsAward:
    matched, card = run.matched, worth.card.card
    key, at = matched.effect_key(step.number), matched.event.occurred_at
    explanation = Campaigned(
        campaign=matched.campaign.label,
        event=matched.event.key,
        step=step.number,
        count=run.count,
        variant=run.variant,
        conditions=matched.conditions,
        card=worth.card.name,
        formula=worth.formula,
        points=worth.points,
    )
    return PointsAward(
        key=key,
        member_id=matched.member_id,
        program=card.program,
        country=matched.campaign.country,
        kind=TransferKind.EARN,
        points=worth.points,
        occurred_at=at,
        expires_on=last_good_day(at, card.zone, card.expiry_months),
        activity=False,  # a gift is not a transaction: it does not keep other points alive
        fingerprint=fingerprint((key, matched.member_id, at.isoformat())),
        explanation=text_of(explanation),
        source=campaign_source(matched.campaign.name),
        lifetime=card.expiry is Expiry.LIFETIME,
    )


def _told(run: Run, step: Step, now: datetime) -> dict[str, Any]:
    matched = run.matched
    return {
        "campaign": matched.campaign.name,
        "version": matched.campaign.version,
        "step": step.number,
        "count": run.count,
        "variant": run.variant,
        "key": matched.effect_key(step.number),
        "member_id": matched.member_id,
        "decided_at": now,
        "event": orjson.Fragment(encode_event(matched.event)),
    }
