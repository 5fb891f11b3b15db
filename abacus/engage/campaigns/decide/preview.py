"""What a campaign would tell the member of an event: its templates, filled with what that event has. Pure."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from abacus.core.errors import SetAside
from abacus.engage.actions.decide.deeds import Award, Tell
from abacus.engage.actions.decide.templates import fields_of
from abacus.engage.campaigns.decide.campaign import Campaign, Step
from abacus.engage.campaigns.decide.worth import worth_of
from abacus.engage.notify.decide.template import FilledTemplate
from abacus.pricing.decide.card import BASE_TIER, PublishedCard
from abacus.signals.events.types import Event

SOMEBODY: Final = "the-member"  # stands for the id of the member


class Filled(NamedTuple):
    """A template at its place in the document, and what it is rendered with."""

    path: str
    step: int
    deed: int
    rendering: FilledTemplate


def filled(campaign: Campaign, event: Event, card: PublishedCard | None) -> Iterator[Filled]:
    """Every message of every step, as if the event came at its count, for a member of the lowest tier."""
    about = event._replace(member_id=SOMEBODY)
    for step in campaign.steps:
        fields = fields_of(
            about, campaign=campaign.name, count=step.at or step.every or 1, points=_points(step, event, card)
        )
        for place, action in enumerate(step.actions):
            if isinstance(action.deed, Tell):
                for locale, template in action.deed.templates.items():
                    path = f"steps[{step.number - 1}].do[{place}].tell.{locale}"
                    yield Filled(path, step.number, place + 1, FilledTemplate(template, locale, fields))


def _points(step: Step, event: Event, card: PublishedCard | None) -> int:
    """Those of the step's last award; the fewest that it gives where the event says nothing of them."""
    awards = [each.deed for each in step.actions if isinstance(each.deed, Award)]
    if not awards:
        return 0
    try:
        return awards[-1].least_points if card is None else worth_of(awards[-1], event, card, BASE_TIER).points
    except SetAside:
        return awards[-1].least_points
