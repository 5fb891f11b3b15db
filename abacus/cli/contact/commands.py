"""`abacus contact`: how often members are told what, when they are left alone, and who is held out."""

from typing import Any, Final

from abacus.cli.contact.family import FAMILY
from abacus.cli.documents.commands import add_commands
from abacus.cli.documents.family import Rows
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.types import Record
from abacus.engage.notify.decide.contact_policy import ContactPolicy
from abacus.engage.notify.kind import CONTACT_POLICIES

app = CommandGroup(
    no_args_is_help=True, help="Contact policies, by country: caps over all campaigns, quiet hours and the holdout."
)


def _row(record: Record[ContactPolicy]) -> dict[str, Any]:
    policy = record.document
    return {
        "name": CONTACT_POLICIES.label(record),
        "caps": {f"{kind} over {channel}": str(cap) for (channel, kind), cap in policy.caps.items()},
        "quiet_hours": None if policy.quiet_hours is None else str(policy.quiet_hours),
        "holdout": policy.holdout,
        "published": record.published_at,
        "by": record.published_by,
        "approved_by": record.version.own["approved_by"],
    }


_ROWS: Final = Rows(
    title="Contact policies",
    columns=("name", "caps", "quiet_hours", "holdout", "published", "by", "approved_by"),
    row=_row,
)
add_commands(app, FAMILY, _ROWS)
