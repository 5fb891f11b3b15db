"""Points that a campaign gave, checked by its document: whether the facts that were kept lead to them. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple, get_args

from abacus.core.errors import SetAside
from abacus.core.fields import DocumentFaults
from abacus.core.ids import campaign_key
from abacus.core.points import plain
from abacus.core.sources import campaign_source
from abacus.documents.decide.heading import runs_at
from abacus.engage.actions.decide.deeds import Award, FixedPoints, MultipleOfEarned, OwnFormula
from abacus.engage.campaigns.decide.campaign import Campaign, Step
from abacus.engage.campaigns.decide.campaign_index import compiled
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.recomputation import recompute
from abacus.engage.campaigns.decide.run import arm_of
from abacus.engage.campaigns.decide.worth import worth_of
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.card import BASE_TIER, PublishedCard
from abacus.pricing.decide.formula import CAMPAIGN_ENTRY, campaign_worth
from abacus.pricing.explanation.types import Campaigned, FactorName
from abacus.signals.events.types import Event


class About(StrEnum):
    """What is checked, in this order."""

    CAMPAIGN = "campaign"
    KEY = "key"
    TIME = "time"
    CONDITIONS = "conditions"
    STEP = "step"
    ARM = "arm"
    POINTS = "points"
    EVENT = "event"


class Check(NamedTuple):
    """One thing that was looked at. `agrees` is None where it cannot be told any more."""

    about: About
    agrees: bool | None
    words: str


@dataclass(frozen=True, slots=True)
class Given:
    """Points that stand in the ledger, why they were given, and what is known of that today. The campaign, of the
    version that is named, and the card are None where there are none. `event` is the event, where somebody has it. The
    id of a member who was `erased` is gone.
    """

    transfer: Transfer
    why: Campaigned
    campaign: Campaign | None
    approved_by: str | None
    card: PublishedCard | None
    around: Publications
    erased: bool = False
    event: Event | None = None


def checks_of(given: Given) -> Iterator[Check]:
    """Every check that can be made. Limits, and which event of the member it was, were decided under locks and are not
    decided again.
    """
    campaign = given.campaign
    if campaign is None:
        yield Check(About.CAMPAIGN, agrees=False, words=f"there is no {given.why.campaign}")
        return
    yield _approved(given, campaign)
    yield _key(given, campaign)
    yield _time(given, campaign)
    yield _conditions(given, campaign)
    step = next((each for each in campaign.steps if each.number == given.why.step), None)
    if step is None:
        words = f"{campaign.label} has {len(campaign.steps)} steps, and no step {given.why.step}"
        yield Check(About.STEP, agrees=False, words=words)
        return
    yield _step(given, campaign, step)
    if campaign.split or given.why.variant is not None:
        yield _arm(given, campaign)
    award = next((each.deed for each in step.actions if isinstance(each.deed, Award)), None)
    yield _points(given, campaign, award)
    if given.event is not None:
        yield _event(given, campaign, award, given.event)


def _told(about: About, faults: list[str], words: str) -> Check:
    return Check(about, not faults, "; ".join(faults) or words)


def _approved(given: Given, campaign: Campaign) -> Check:
    faults = []
    if given.approved_by is None:
        faults.append(f"{campaign.label} was never approved")
    if given.transfer.country != campaign.country:
        faults.append(f"{campaign.label} is of {campaign.country}, the points are of {given.transfer.country}")
    return _told(About.CAMPAIGN, faults, f"{campaign.label} was approved by {given.approved_by}")


def _key(given: Given, campaign: Campaign) -> Check:
    transfer, why = given.transfer, given.why
    faults = []
    if transfer.key != f"{campaign_key(campaign.name, why.event)}:{why.step}":
        faults.append(f"{transfer.key} is not the key of step {why.step} of {campaign.name} for {why.event}")
    if transfer.known_source != campaign_source(campaign.name):
        faults.append(f"the points came by {transfer.known_source}")
    if not any(why.event.startswith(f"{source}:{type_}:") for source, type_ in campaign.on):
        faults.append(f"{why.event} is no event that it answers to")
    return _told(About.KEY, faults, f"the key is that of the event and of step {why.step}")


def _time(given: Given, campaign: Campaign) -> Check:
    at = given.transfer.occurred_at
    faults = [] if runs_at(campaign, at) else [f"{campaign.label} did not run at {at.isoformat()}"]
    return _told(About.TIME, faults, f"it ran at {at.astimezone(campaign.zone).isoformat()}")


def _conditions(given: Given, campaign: Campaign) -> Check:
    try:
        _, rule = compiled(campaign, given.around)
    except DocumentFaults as error:
        return Check(About.CONDITIONS, None, f"its conditions are not understood any more: {error.faults[0]}")
    recomputed = recompute(rule, given.why.conditions, given.event)
    if recomputed.faults:
        return Check(About.CONDITIONS, agrees=False, words="; ".join(recomputed.faults))
    match recomputed.holds:
        case True:
            return Check(About.CONDITIONS, agrees=True, words="its conditions hold with these values")
        case False:
            return Check(About.CONDITIONS, agrees=False, words="its conditions do not hold with these values")
        case None:
            words = "not enough of the values was kept to decide the conditions again"
            return Check(About.CONDITIONS, None, words)


def _step(given: Given, campaign: Campaign, step: Step) -> Check:
    count, variant = given.why.count, given.why.variant
    faults = []
    if campaign.counts != (count is not None):
        faults.append(f"{campaign.label} {'counts' if campaign.counts else 'does not count'}, and the count is {count}")
    elif not step.fits(count or 1, variant):
        faults.append(f"step {step.number} is not for count {count}" + (f" in the arm {variant}" if variant else ""))
    at = f" at count {count}" if count is not None else ""
    return _told(About.STEP, faults, f"step {step.number} is taken{at}")


def _arm(given: Given, campaign: Campaign) -> Check:
    member_id, variant = given.transfer.member_id, given.why.variant
    if given.erased:
        return Check(About.ARM, None, "the member was erased: its arm cannot be computed any more")
    arm = arm_of(campaign, member_id)
    faults = [] if arm == variant else [f"{member_id} is in the arm {arm}, not {variant}"]
    return _told(About.ARM, faults, f"{member_id} is in the arm {arm}, by its hash")


def _points(given: Given, campaign: Campaign, award: Award | None) -> Check:
    why, formula = given.why, given.why.formula
    faults, words = [], f"step {why.step} of {campaign.label} awards {why.points} points"
    if award is None:
        return Check(About.POINTS, agrees=False, words=f"step {why.step} of {campaign.label} awards nothing")
    if isinstance(award.worth, FixedPoints):
        if award.worth.points != why.points:
            faults.append(f"the step awards {award.worth.points} points, not {why.points}")
        if formula is not None:
            faults.append("the step awards a fixed number of points, and by no formula")
    elif formula is None:
        faults.append("the step awards by a formula, and none was kept")
    else:
        words = (
            f"{why.points} points follow by {'the multiple' if formula.multiple != '1' else 'the formula'} of the step"
        )
        multiple, own = _of_worth(award.worth)
        entries = {name: value for name, entry, value in formula.factors if entry == CAMPAIGN_ENTRY}
        if formula.multiple != multiple:
            faults.append(f"the multiple is {multiple}, not {formula.multiple}")
        if entries != own:
            faults.append(f"its own multipliers are {own}, not {entries}")
        if campaign_worth(formula)[1] != why.points:
            faults.append(f"the formula comes to {campaign_worth(formula)[1]} points, not {why.points}")
    return _told(About.POINTS, faults, words)


def _of_worth(worth: MultipleOfEarned | OwnFormula) -> tuple[str, dict[str, str]]:
    """The multiple, and the multipliers that are the campaign's own."""
    if isinstance(worth, MultipleOfEarned):
        return plain(worth.multiple), {}
    return plain(Decimal(1)), {
        name: plain(worth.factors[name]) for name in get_args(FactorName) if name in worth.factors
    }


def _event(given: Given, campaign: Campaign, award: Award | None, event: Event) -> Check:
    transfer, why = given.transfer, given.why
    compared = [
        ("the key of the event", event.key, why.event),
        ("its time", event.occurred_at, transfer.occurred_at),
        ("its country", event.country or campaign.country, campaign.country),
    ]
    if not given.erased:
        compared.append(("its member", event.member_id, transfer.member_id))
    faults = [f"{name} is {found}, not {wanted}" for name, found, wanted in compared if found != wanted]
    if award is not None and given.card is not None:
        tiers = [entry for name, entry, _ in why.formula.factors if name == "tier"] if why.formula else []
        try:
            worth = worth_of(award, event, given.card, next(iter(tiers), BASE_TIER))
        except SetAside as fault:
            faults.append(fault.detail)
        else:
            if worth.points != why.points:
                faults.append(f"its points by {why.card} are {worth.points}, not {why.points}")
            elif worth.formula != why.formula:
                faults.append(f"its points by {why.card} follow from {worth.formula}, not from {why.formula}")
    return _told(About.EVENT, faults, f"the event is {event.key}, and its points come to {why.points}")
