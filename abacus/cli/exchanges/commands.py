"""`abacus exchanges`: check, compare, publish, pause, resume, end and look at programmes."""

from abacus.cli.documents.stated_family import add_stated
from abacus.cli.exchanges.family import FAMILY
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act

app = CommandGroup(no_args_is_help=True, help="Exchanges: points become a partner's, and a partner's become points.")


add_stated(
    app,
    FAMILY,
    "Programmes",
    moves={
        Act.WITHDRAW: "Take a submitted version back: it is a draft again, and cannot be approved.",
        Act.PAUSE: "Pause a programme within a second. What was asked for before is still carried out.",
        Act.RESUME: "Let members exchange again by a paused programme.",
        Act.END: "End a programme for good. What was asked for before is still carried out.",
    },
    own={
        "partner": lambda each: each.partner,
        "exchanges": lambda each: " and ".join(each.directions),
    },
    once_approved="They hold",
)
