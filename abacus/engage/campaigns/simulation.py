"""What a campaign would do for an event, looked at and not done."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import orjson

from abacus.core.errors import Unavailable
from abacus.documents.decide.heading import runs_at
from abacus.engage.actions.messages import in_words
from abacus.engage.actions.types import MESSAGES, PlannedAction
from abacus.engage.campaigns.decide.batch import decide
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_index import compiled
from abacus.engage.campaigns.decide.conditions import condition_text, conditions_of, value_text
from abacus.engage.campaigns.decide.effects import actions_of
from abacus.engage.campaigns.decide.progress import places_of
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.run import Matched, Run
from abacus.engage.campaigns.evaluator import worth_of_steps
from abacus.engage.campaigns.facts import CampaignSubject
from abacus.engage.campaigns.progress_rows import read_progress
from abacus.engage.campaigns.sums import done_before
from abacus.engage.limits.decide.pots import limited_by
from abacus.engage.limits.pot_store import PotStore
from abacus.engage.notify.decide.template import Unrenderable
from abacus.engage.notify.renderer import Renderer
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.types import Event
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.rounds import Question, decide_all
from abacus.signals.facts.types import FactRegistry
from abacus.signals.rules.decide.plan import Decision, Looked, RulePlan
from abacus.signals.rules.decide.types import Origin


class Seen(NamedTuple):
    """A condition that was looked at: the value of its left side, where that came from, and whether it holds."""

    condition: str
    value: str
    origin: str
    holds: bool


class Simulated(NamedTuple):
    """What would come of an event: why it does not count, or the run with its actions."""

    seen: Sequence[Seen]
    against: str | None
    run: Run | None = None
    actions: Sequence[PlannedAction] = ()


async def simulate(
    campaign: Campaign,
    event: Event,
    *,
    pool: Pool,
    facts: FactRegistry[CampaignSubject],
    members: MemberFacts,
    around: Publications,
    book: CardBook,
    renderer: Renderer,
    now: datetime,
) -> Simulated:
    """Raises `Refused`, `SetAside` and `Unavailable`."""
    against = _against(campaign, event)
    if against is not None:
        return Simulated([], against)
    member_id = event.member_id or ""
    card = book.in_force(campaign.country, event.occurred_at)
    subject = CampaignSubject(campaign, member_id, event, card.card.program)
    armed, _ = compiled(campaign, around)
    decision = await _decision(subject, armed.plan, facts)
    seen = [_seen(looked) for looked in decision.looked]
    if decision.holds is None:
        raise Unavailable("values", f"what decides about {event.key} cannot be told now")
    if not decision.holds:
        return Simulated(seen, "its conditions do not hold")
    tier = (await members.tiers_of({subject.account})).get(subject.account)
    if tier is None:
        raise Unavailable("tiers", f"that of {member_id} cannot be told now")
    worth = worth_of_steps(campaign, event, card, tier)
    held_out = armed.holds_out(member_id)
    matched = Matched(campaign, member_id, event, conditions_of(decision.looked), worth, held_out=held_out)
    limited = limited_by(campaign, event.occurred_at)
    async with slices.at(pool, member_id) as connection:
        progress = await read_progress(connection, sorted(places_of(campaign, member_id, event.occurred_at)))
    left = await PotStore(pool, 0, done_before).left(limited)
    (run,) = decide([matched], progress, left, limited).runs
    return Simulated(seen, None, run, [await _said(due, renderer) for due in actions_of(run, now)])


async def _said(due: PlannedAction, renderer: Renderer) -> PlannedAction:
    """A message with what it says, or why it says nothing."""
    if due.receiver != MESSAGES:
        return due
    document = orjson.loads(due.document)
    (words,) = await in_words([document], renderer)
    if isinstance(words, Unrenderable):
        said: dict[str, object] = {"fault": str(words)}
    else:
        said = {"words": {locale: each._asdict() for locale, each in words.items()}}
    return due._replace(document=orjson.dumps({"country": document["country"], **said}))


def _against(campaign: Campaign, event: Event) -> str | None:
    if (event.source, event.type) not in campaign.on:
        return f"it answers to {', '.join('/'.join(each) for each in campaign.on)}"
    if event.member_id is None:
        return "the event has no member"
    if event.country not in {None, campaign.country}:
        return f"the event is of {event.country}, the campaign of {campaign.country}"
    if not runs_at(campaign, event.occurred_at):
        return f"it does not run at {event.occurred_at.astimezone(campaign.zone).isoformat()}"
    return None


async def _decision(subject: CampaignSubject, plan: RulePlan | None, facts: FactRegistry[CampaignSubject]) -> Decision:
    if plan is None:
        return Decision(holds=True, wanted=None, looked=())
    (decision,) = await decide_all([Question(subject, plan)], facts)
    return decision


def _seen(looked: Looked) -> Seen:
    side = looked.condition.lhs
    origin = side.place.name if isinstance(side.place, Origin) else "event"
    return Seen(condition_text(looked.condition), value_text(looked.value), origin, looked.holds)
