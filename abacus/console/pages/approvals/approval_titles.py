"""Titles of approvals, as sentences of the log have them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from uuid import UUID

from abacus.console.pages.approvals.tellings import EVERY_KIND
from abacus.console.web.calls import Call
from abacus.people.store.approvals import Approvals


async def approval_titles(call: Call, ids: Sequence[str]) -> Mapping[str, str]:
    """By their ids. Raises `Unavailable`."""
    known = list(_known(ids))
    found = await call.rooms[Approvals].some(known) if known else ()
    return {str(each.approval_id): EVERY_KIND.within_sentence(each) for each in found}


def _known(ids: Sequence[str]) -> Iterator[UUID]:
    for each in ids:
        with suppress(ValueError):
            yield UUID(each)
