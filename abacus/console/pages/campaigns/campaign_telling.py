"""How the approval of a campaign is told: its sentences, and what changes against the version before."""

from typing import Any, Final

from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changes_of, everything_of
from abacus.console.pages.approvals.telling import Telling
from abacus.console.pages.campaigns.campaign_draft import CAMPAIGN_DRAFTS
from abacus.console.web.calls import Call
from abacus.documents.form.sentences import sentences
from abacus.engage.campaigns.decide.campaign_form import CAMPAIGN_FORM
from abacus.engage.campaigns.decide.campaign_reader import restore_campaign
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.people.types.approval import Approval

_WHY: Final = "A campaign gives points away by itself, so another person looks at exactly this version before it runs."


def _title(approval: Approval, document: Any) -> str:
    about = document["campaign"].get("about")
    return f"Campaign {f'“{about}”' if about else approval.subject}, {approval.country}"


def _within(approval: Approval, document: Any) -> str:
    about = document["campaign"].get("about")
    return f"campaign {about or approval.subject}, version {document['version']}"


async def _told(call: Call, _: Approval, document: Any) -> Told:
    campaign = restore_campaign(document["campaign"], document["version"])
    history = await call.rooms[CampaignDesk].history(campaign.name)
    before = [
        each.document for each in history if each.document.version < campaign.version and each.approved_at is not None
    ]
    return Told(
        why=_WHY,
        sentences=sentences(CAMPAIGN_FORM, document["campaign"]),
        changes=changes_of(CAMPAIGN_FORM, CAMPAIGNS.to_document(before[-1]) if before else None, document["campaign"]),
        against=before[-1].label if before else None,
        about=[Named("campaign", campaign.label)],
        everything=everything_of(document["campaign"]),
    )


CAMPAIGN: Final = Telling(
    kind=CAMPAIGNS.approval, noun="Campaign", title=_title, told=_told, within=_within, drafts=CAMPAIGN_DRAFTS
)
