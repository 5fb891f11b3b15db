"""What a second person agrees to: exactly this version of a campaign. Pure."""

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.document import to_document
from abacus.people.decide.approving import canonical
from abacus.people.types.approval import Kind, Proposal


def campaign_proposal(campaign: Campaign, changes: list[str]) -> Proposal:
    return Proposal(
        kind=Kind.CAMPAIGN,
        subject=campaign.name,
        country=campaign.country,
        summary=f"run the campaign {campaign.label}: {'; '.join(changes) or 'nothing changes'}",
        document=proposed(campaign),
    )


def proposed(campaign: Campaign) -> str:
    """The text that an approval is bound to."""
    return canonical({"campaign": to_document(campaign), "version": campaign.version})
