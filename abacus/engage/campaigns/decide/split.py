"""The arm of a split in which a member is: always the same one, for the campaign in all its versions. Pure."""

from hashlib import blake2b
from typing import Final

from abacus.engage.campaigns.decide.campaign import Campaign

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
