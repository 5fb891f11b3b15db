"""Who can have it? Whether a member could have a reward, at which price, and why not: of a version, or of a draft."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.decide.form_field import FormField
from abacus.console.decide.typed import local_moment, whole
from abacus.console.pages.drafts.preview import PreviewKind
from abacus.console.pages.rewards.reward_pages import PAGES
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.core.fields import Fault
from abacus.core.points import MAX_POINTS, plain
from abacus.engage.asking.standings import standings_of
from abacus.engage.rewards.decide.delivered import delivered
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.desk import RewardDesk
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.preview import Foreseen, Look, RewardPreview
from abacus.engage.rewards.redemption_desk import MOST_PIECES
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardReader

ASKED: Final = ("member", "quantity", "points", "at")
_MINUTES: Final = "%Y-%m-%dT%H:%M"


@dataclass(frozen=True)
class Against:
    """A reason against it."""

    reason: str
    detail: str


@dataclass(frozen=True)
class Foretold:
    """What a member would find: the price, what it has, how it would be delivered, and everything that is against it.
    Without `is_told` it cannot be told now whether the reward is for the member.
    """

    member: str
    can_have: bool
    price: str
    available: int
    program: str
    delivered: str
    against: Sequence[Against]
    is_told: bool
    at: datetime
    country: str
    faults: Sequence[Fault] = ()


@dataclass(frozen=True, kw_only=True)
class RewardPreviewPage(Page):
    """A form that is an address, and what came of it."""

    template: ClassVar[str] = "reward_preview.html"
    label: str
    name: str
    version: int
    fields: Sequence[FormField]
    found: Part[Foretold] | None = None


async def of_one(call: Call) -> RewardPreviewPage:
    history = await PAGES.history(call)
    reward = PAGES.shown(call, history).document
    typed = call.narrowed("version", *ASKED)
    page = RewardPreviewPage(
        title=f"Who can have {reward.name}?",
        command=f"abacus rewards simulate {reward.label} --member ID",
        label=reward.label,
        name=reward.name,
        version=reward.version,
        fields=_fields(call, reward),
        form=typed,
    )
    if not typed.get("member"):
        return page
    try:
        around = await call.rooms[RewardDesk].around()
        return replace(page, found=await call.part(_found(call, typed, reward, around)))
    except WrongForm as wrong:
        return replace(page, form=wrong.form, fault=wrong.fault)


async def _of_draft(call: Call, reward: Reward, around: RewardPublications) -> Foretold:
    """Raises `WrongForm` and `Unavailable`."""
    if not call.form.get("member"):
        raise WrongForm(call.form.shown().but(member="Write whose."))
    return await _found(call, call.form.shown(), reward, around)


async def _found(call: Call, typed: Form, reward: Reward, around: RewardPublications) -> Foretold:
    """Raises `WrongForm` and `Unavailable`."""
    call.check(Deed.SEE, reward.country)
    asked, at = _asked(typed), _at(call, typed, reward)
    if not call.rooms[CardReader].book().covers(reward.country, at):
        raise WrongForm(typed.but(at=f"{reward.country} has no rate card then."))
    accounts = [each.at(call.now) for each in await call.reading.members.holdings(asked.member_id)]
    standings = standings_of(accounts, is_open=lambda country: call.may(Deed.SEE, country))
    return _told(await call.rooms[RewardPreview].look(Offered(reward, around), asked, standings, at), at)


def _asked(typed: Form) -> Look:
    """Raises `WrongForm`."""
    quantity = whole(typed.get("quantity") or "1")
    points = whole(typed.get("points")) if typed.get("points") else None
    wrong = {}
    if isinstance(quantity, str) or not 1 <= quantity <= MOST_PIECES:
        wrong["quantity"] = f"Write a number from 1 to {MOST_PIECES}."
    if isinstance(points, str) or (points is not None and points > MAX_POINTS):
        wrong["points"] = "Write a number of points, or nothing."
    if wrong or isinstance(quantity, str) or isinstance(points, str):
        raise WrongForm(typed.but(**wrong))
    return Look(typed.get("member"), quantity, points)


def _at(call: Call, typed: Form, reward: Reward) -> datetime:
    """Raises `WrongForm`."""
    at = local_moment(typed.get("at"), reward.timezone) if typed.get("at") else call.now
    if at is None:
        raise WrongForm(typed.but(at="Write a day and a time."))
    return at


def _told(found: Foreseen, at: datetime) -> Foretold:
    opened = found.opened
    money = f" and {plain(opened.money)} in money" if opened.money else ""
    return Foretold(
        member=opened.member_id,
        can_have=found.can_have,
        price=f"{opened.points:,} points{money}",
        available=found.available,
        program=opened.program,
        delivered=delivered(opened),
        against=[Against(each.lock.replace("_", " "), each.detail) for each in found.locks],
        is_told=found.is_told,
        at=at,
        country=opened.country,
    )


def _fields(call: Call, reward: Reward) -> Sequence[FormField]:
    """A reward that has not begun is looked at when it begins."""
    begins = reward.starts_at.astimezone(reward.zone).strftime(_MINUTES) if reward.starts_at > call.now else ""
    hint = f"Empty: now. By the clock of {reward.timezone}."
    return (
        FormField("member", "Member"),
        FormField("quantity", "Pieces", value="1", inputmode="numeric"),
        FormField("points", "Points at most", inputmode="numeric", hint="The rest in money, where it allows that."),
        FormField("at", "When", value=begins, type="datetime-local", hint=hint),
    )


REWARD_PREVIEW: Final = PreviewKind[Reward, RewardPublications](
    title="Who can have it",
    about="",
    template="reward_draft_preview.html",
    fields=_fields,
    read=_of_draft,
)
