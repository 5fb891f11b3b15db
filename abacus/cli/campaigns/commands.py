"""`abacus campaigns`: check, compare, publish, pause, resume, end and look at campaigns."""

from typing import Final

from abacus.cli.campaigns.family import FAMILY
from abacus.cli.documents.commands import add_diff, add_lint, add_publish
from abacus.cli.documents.stated_family import StatedColumns, add_moves, add_views
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act
from abacus.engage.campaigns.decide.campaign import Campaign

app = CommandGroup(
    no_args_is_help=True, help="Campaigns: if this happens to a member, and that holds, then it is done, within limits."
)

_COLUMNS: Final[StatedColumns[Campaign]] = {
    "country": lambda campaign: campaign.country,
    "on": lambda campaign: ", ".join("/".join(each) for each in campaign.on),
    "starts_at": lambda campaign: campaign.starts_at.astimezone(campaign.zone).isoformat(),
    "ends_at": lambda campaign: campaign.ends_at.astimezone(campaign.zone).isoformat(),
}

add_lint(app, FAMILY)
add_diff(app, FAMILY)
add_publish(app, FAMILY, help_="Draft new versions and submit them. They run once another person has approved them.")


add_moves(
    app,
    FAMILY,
    {
        Act.WITHDRAW: "Take a submitted version back: it is a draft again, and cannot be approved.",
        Act.PAUSE: "Pause a campaign within a second. What happens meanwhile is not made up for.",
        Act.RESUME: "Let a paused campaign run again.",
        Act.END: "End a campaign for good. What was decided before is still done.",
    },
)
add_views(app, FAMILY, "Campaigns", _COLUMNS)
