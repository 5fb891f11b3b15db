"""`abacus campaigns`: check, compare, publish, pause, resume, end and look at campaigns."""

from abacus.cli.campaigns.family import FAMILY
from abacus.cli.documents.stated_family import add_stated
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act

app = CommandGroup(
    no_args_is_help=True, help="Campaigns: if this happens to a member, and that holds, then it is done, within limits."
)

add_stated(
    app,
    FAMILY,
    "Campaigns",
    own={"on": lambda campaign: ", ".join("/".join(each) for each in campaign.on)},
    once_approved="They run",
    moves={
        Act.WITHDRAW: "Take a submitted version back: it is a draft again, and cannot be approved.",
        Act.PAUSE: "Pause a campaign within a second. What happens meanwhile is not made up for.",
        Act.RESUME: "Let a paused campaign run again.",
        Act.END: "End a campaign for good. What was decided before is still done.",
    },
)
