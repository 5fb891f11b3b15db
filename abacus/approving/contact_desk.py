"""What people do with policies of contact: a second person approves each."""

from abacus.core.clock import Clock
from abacus.documents.approved_desk import ApprovedDesk
from abacus.engage.notify.decide.contact_policy import ContactPolicy
from abacus.engage.notify.kind import CONTACT_POLICIES
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import ApprovalKind
from abacus.platform.postgres import Pool
from abacus.pricing.decide.countries import Countries
from abacus.pricing.kind import countries_with_cards


class ContactDesk(ApprovedDesk[ContactPolicy, Countries]):
    """The desk of the contact policies of countries."""

    def __init__(self, pool: Pool, clock: Clock, approvals: Approvals) -> None:
        asked_as = ApprovalKind.CONTACT_POLICY
        super().__init__(pool, clock, CONTACT_POLICIES, countries_with_cards, approvals=approvals, asked_as=asked_as)
