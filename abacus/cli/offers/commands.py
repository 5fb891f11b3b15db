"""`abacus offers`: check, compare, publish, pause, resume, end and look at offers."""

from typing import Final

from abacus.cli.documents.commands import add_diff, add_lint, add_publish
from abacus.cli.documents.stated_family import StatedColumns, add_moves, add_views
from abacus.cli.offers.family import FAMILY
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act
from abacus.engage.offers.decide.offer import Offer

app = CommandGroup(no_args_is_help=True, help="Offers: what members get off an item, for whom and within which limits.")

_COLUMNS: Final[StatedColumns[Offer]] = {
    "country": lambda offer: offer.country,
    "audience": lambda offer: offer.audience,
    "benefit": lambda offer: offer.benefit.kind,
    "starts_at": lambda offer: offer.starts_at.astimezone(offer.zone).isoformat(),
    "ends_at": lambda offer: offer.ends_at.astimezone(offer.zone).isoformat(),
}

add_lint(app, FAMILY)
add_diff(app, FAMILY)
add_publish(app, FAMILY, help_="Draft new versions and submit them. They hold once another person has approved them.")
add_moves(
    app,
    FAMILY,
    {
        Act.WITHDRAW: "Take a submitted version back: it is a draft again, and cannot be approved.",
        Act.PAUSE: "Pause an offer within a second. What is reserved can still be redeemed.",
        Act.RESUME: "Let a paused offer hold again.",
        Act.END: "End an offer for good. What is reserved can still be redeemed.",
    },
)
add_views(app, FAMILY, "Offers", _COLUMNS)
