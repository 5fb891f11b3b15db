"""The campaigns, with their states and what is left of their limits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.decide.charts import Bar, bars_of
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.page import Page
from abacus.documents.decide.states import State
from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.limits.types import NOTHING, Amounts
from abacus.people.types.deed import Deed

_MOST: Final = 50


@dataclass(frozen=True)
class CampaignRow:
    """A version of a campaign."""

    name: str
    version: int
    about: str
    country: str
    state: str
    starts_at: datetime
    ends_at: datetime
    changed_at: datetime
    changed_by: str
    used: Sequence[Bar] = ()


@dataclass(frozen=True, kw_only=True)
class CampaignsPage(Page):
    """The latest version of each, by name."""

    template: ClassVar[str] = "campaigns.html"
    list: Rows[CampaignRow]
    chosen: str | None
    states: Sequence[str] = tuple(State)
    may_draft: bool


async def campaigns(call: Call) -> CampaignsPage:
    state, desk, countries = call.chosen("state", State), call.rooms[CampaignDesk], call.countries(Deed.SEE)
    found = await desk.page(countries=countries, state=state, after=call.asked("after"), limit=_MOST + 1)
    shown = found[:_MOST]
    used = await desk.used([each.document.name for each in shown])
    more = call.next_page(shown[-1].document.name) if len(found) > _MOST else None
    return CampaignsPage(
        title="Campaigns",
        command=f"abacus campaigns list --state {state}" if state else "abacus campaigns list",
        list=Rows([row_of(each, call.now, used.get(each.document.name, NOTHING)) for each in shown], more),
        chosen=state,
        may_draft=call.may_somewhere(Deed.EDIT_CAMPAIGNS),
    )


def row_of(record: CampaignRecord, now: datetime, used: Amounts | None = None) -> CampaignRow:
    campaign = record.document
    return CampaignRow(
        name=campaign.name,
        version=campaign.version,
        about=campaign.about,
        country=campaign.country,
        state=record.state(now),
        starts_at=campaign.starts_at,
        ends_at=campaign.ends_at,
        changed_at=record.changed_at,
        changed_by=record.changed_by,
        used=bars_of(campaign, used) if used is not None else (),
    )
