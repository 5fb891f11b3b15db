"""`abacus rates`: check, compare, publish and look at rate cards."""

from abacus.cli.documents.commands import add_diff, add_lint, add_publish, add_show
from abacus.cli.rates.card_timeline import list_cards, restore, show_timeline, withdraw
from abacus.cli.rates.family import FAMILY
from abacus.cli.terminal.shell import CommandGroup

app = CommandGroup(
    no_args_is_help=True, help="Rate cards: how many points a transaction earns, in each country, from each day."
)
add_lint(app, FAMILY)
add_diff(app, FAMILY)
add_publish(app, FAMILY)
add_show(app, FAMILY)
app.command("list")(list_cards)
app.command("timeline")(show_timeline)
app.command()(withdraw)
app.command()(restore)
