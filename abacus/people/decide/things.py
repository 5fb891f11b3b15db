"""Which approvals are about a thing, as subjects of the log name it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.people.types.approval import ApprovalKind

# The thing that an approval of each kind is about, by its kind in subjects of the log.
ABOUT: Final[Mapping[ApprovalKind, str]] = {
    ApprovalKind.ADJUSTMENT: "member",
    ApprovalKind.REVERSAL: "member",
    ApprovalKind.RATE_CARD: "card",
    ApprovalKind.LIMITS: "partner",
    ApprovalKind.CAMPAIGN: "campaign",
    ApprovalKind.OFFER: "offer",
    ApprovalKind.REWARD: "reward",
    ApprovalKind.EXCHANGE_PROGRAMME: "programme",
    ApprovalKind.EXCHANGE: "member",
    ApprovalKind.JOURNEY: "journey",
    ApprovalKind.JOURNEY_MIGRATION: "journey",
    ApprovalKind.REGIONS: "regions",
    ApprovalKind.CONTACT_POLICY: "contact",
    ApprovalKind.ASSUMPTION: "assumption",
    ApprovalKind.MONTH_CLOSE: "month",
}


class Sought(NamedTuple):
    """Approvals that are looked for: by their kinds and subjects, side by side; movements by their members."""

    kinds: Sequence[str]
    subjects: Sequence[str]
    members: Sequence[str]


def approvals_about(things: Iterable[str]) -> Sought:
    """The subject of an approval is the name of its thing without a version; of assumptions the log's own subject; and
    of a movement its key, so that the member is looked for in its document.
    """
    by_subject: list[tuple[str, str]] = []
    members: list[str] = []
    for thing in things:
        kind, _, name = thing.partition(":")
        if kind == "member":
            members.append(name)
        for approval, about in ABOUT.items():
            if about == kind and kind != "member":
                by_subject.append((approval, thing if kind == "assumption" else name.partition("@")[0]))
    return Sought([kind for kind, _ in by_subject], [subject for _, subject in by_subject], members)
