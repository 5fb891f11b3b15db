"""Contact policies of countries, as published documents: the latest version is in force."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from abacus.core.fields import Fault
from abacus.documents.directory import DocumentDirectory, Moment
from abacus.documents.kind import DocumentKind, Table
from abacus.documents.types import Version
from abacus.engage.notify.decide.contact import Policies
from abacus.engage.notify.decide.contact_document import LABELS, described, parse_policy, to_document
from abacus.engage.notify.decide.contact_form import CONTACT_FORM, contact_choices
from abacus.engage.notify.decide.contact_policy import ContactPolicy
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.decide.countries import Countries


async def _read(document: Mapping[str, object], _: Countries) -> ContactPolicy:
    return parse_policy(document)


def _restore(document: Mapping[str, Any], version: Version) -> ContactPolicy:
    return parse_policy(document).numbered(version.number)


def _check(_: ContactPolicy, _latest: Iterable[ContactPolicy], _around: Countries) -> list[Fault]:
    return []


CONTACT_POLICIES: Final[DocumentKind[ContactPolicy, Countries]] = DocumentKind(
    word="policy",
    plural="contact policies",
    noun="contact policy",
    command="contact",
    subject="contact",
    deed=Deed.PUBLISH_CONTACT,
    table=Table("contact_policy", "country", own=("approved_by",)),
    name_field="country",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    check=_check,
    key=lambda policy: policy.country,
    name=lambda policy: policy.country,
    split_label=LABELS.split,
    country=lambda policy: policy.country,
    own=lambda _: {"approved_by": None},
    form=CONTACT_FORM,
    choices=contact_choices,
)


def policies_of(moment: Moment) -> Policies:
    """By country."""
    return {each.country: each for each in moment.of(CONTACT_POLICIES)}


def holdouts_of(moment: Moment) -> Mapping[str, int]:
    """The share of members that is held out, in hundredths, by country; none where nobody is."""
    return {each.country: each.holdout for each in moment.of(CONTACT_POLICIES) if each.holdout}


class ContactDirectory(DocumentDirectory[Policies]):
    """Serves the policy of each country."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, CONTACT_POLICIES, policies_of)
