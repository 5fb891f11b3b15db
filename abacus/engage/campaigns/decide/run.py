"""An event that a campaign answers to, the arm in which its member is, and what comes of it. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Final, NamedTuple

from abacus.core.errors import SetAside
from abacus.core.ids import campaign_key
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.worth import Worth
from abacus.engage.limits.types import NOTHING, Amounts, Scope
from abacus.signals.events.types import Event
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.plan import Decision, LookedUp, RulePlan


class Open(NamedTuple):
    """A rule that depends on what the member has had of the campaign by then, and the other values that it needs."""

    plan: RulePlan
    looked_up: LookedUp

    def decide(self, event: Event, told: Callable[[str], int]) -> Decision:
        """By what is told of each left side that may have risen."""
        risen = {text: told(text) for text, value in self.looked_up.items() if isinstance(value, AtLeast)}
        return self.plan.decide(event, {**self.looked_up, **risen})


@dataclass(frozen=True, slots=True)
class Matched:
    """An event for which a campaign's conditions hold, or may hold where its rule is `open`, and its member.
    `conditions` were looked at, each with the value that it had. `worth` has the points that each step awards, by its
    number; there is none where the event has a `fault`. A campaign that `waits` for a value stands here for the others
    of its exclusive group. A member who is `held_out` gets nothing.
    """

    campaign: Campaign
    member_id: str
    event: Event
    conditions: tuple[tuple[str, str], ...] = ()
    worth: Mapping[int, Worth] = field(default_factory=dict)
    open: Open | None = None
    fault: SetAside | None = None
    waits: bool = False
    held_out: bool = False

    @property
    def key(self) -> str:
        """The claim of the event in the campaign."""
        return campaign_key(self.campaign.name, self.event.key)

    def effect_key(self, step: int) -> str:
        """The key of a step's effect, and of its award."""
        return f"{self.key}:{step}"


class RunOutcome(StrEnum):
    """What comes of an event that a campaign answers to. The list is closed: metrics and reports go by it."""

    DONE = "done"
    COUNTED = "counted"  # nothing is done at this count
    CONTROL = "control"  # nothing is done in this arm
    HOLDOUT = "holdout"  # nothing is done for members in the holdout of the country
    REFUSED = "refused"  # a limit stands against it


class Refusal(NamedTuple):
    """The limit that stands against a run: of `runs`, `points` or `cost`, in a scope."""

    scope: Scope
    what: str

    def __str__(self) -> str:
        return f"{self.scope}.{self.what}"


@dataclass(frozen=True, slots=True)
class Run:
    """What came of an event."""

    matched: Matched
    outcome: RunOutcome
    count: int | None
    variant: str | None
    steps: tuple[int, ...] = ()
    amounts: Amounts = NOTHING
    refusal: Refusal | None = None


_WHOLE: Final = 100


def arm_of(campaign: Campaign, member_id: str) -> str | None:
    """None where the campaign has no split."""
    if not campaign.split:
        return None
    digest = blake2b(f"{campaign.name}\x1f{member_id}".encode(), digest_size=8).digest()
    place = int.from_bytes(digest) % _WHOLE
    for arm, share in campaign.split:
        place -= share
        if place < 0:
            return arm
    raise ValueError(f"the shares of {campaign.label} make less than {_WHOLE}")
