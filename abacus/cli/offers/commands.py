"""`abacus offers`: check, compare, publish, pause, resume, end and look at offers."""

from abacus.cli.documents.stated_family import add_stated
from abacus.cli.offers.family import FAMILY
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act

app = CommandGroup(no_args_is_help=True, help="Offers: what members get off an item, for whom and within which limits.")

add_stated(
    app,
    FAMILY,
    "Offers",
    own={"audience": lambda offer: offer.audience, "benefit": lambda offer: offer.benefit.kind},
    once_approved="They hold",
    moves={
        Act.WITHDRAW: "Take a submitted version back: it is a draft again, and cannot be approved.",
        Act.PAUSE: "Pause an offer within a second. What is reserved can still be redeemed.",
        Act.RESUME: "Let a paused offer hold again.",
        Act.END: "End an offer for good. What is reserved can still be redeemed.",
    },
)
