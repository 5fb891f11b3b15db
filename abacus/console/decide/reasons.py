"""The reasons that people choose from when they move a member's points, and the text that is kept of them. Pure."""

from collections.abc import Mapping
from typing import Final

LONGEST: Final = 200
OTHER: Final = "other"
_OTHER: Final = ((OTHER, "another reason"),)

REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    "adjust": ("points were missing", "goodwill", "credited twice", "a mistake of ours", "moved from another account"),
    "spend": ("a purchase", "a reward"),
    "hold": ("a purchase", "a reward", "a case under review"),
    "reverse": ("cancelled", "returned", "credited by mistake", "abuse"),
    "tier": ("goodwill", "a tier of a partner", "a mistake of ours"),
}


def choices(act: str) -> tuple[tuple[str, str], ...]:
    return (("", "choose one"), *((each, each) for each in REASONS[act]), *_OTHER)


def reason_of(act: str, chosen: str, details: str) -> str | None:
    """The reason as it is kept: the choice, and the words of the person. None where either is wrong or missing."""
    if chosen == OTHER:
        text = details
    elif chosen in REASONS[act]:
        text = f"{chosen}: {details}" if details else chosen
    else:
        return None
    return text if 0 < len(text) <= LONGEST else None
