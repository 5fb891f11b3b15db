"""What needs a second person, in words: the list, and one approval with what it changes, costs and touches.

A kind declares a `Telling` beside its pages and takes its place in `tellings`; any other is told as labelled rows.
"""

from typing import Final

from abacus.console.pages.approvals import approval, approval_list
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/approvals", approval_list.approvals),
    page("/approvals/{id:uuid}", approval.approval),
    form("/approvals/{id:uuid}/approve", approval.approve, Deed.APPROVE, shows=approval.approval),
    form("/approvals/{id:uuid}/reject", approval.reject, shows=approval.approval),
    form("/approvals/{id:uuid}/try", approval.attempt, shows=approval.approval),
)
