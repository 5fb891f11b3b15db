"""`abacus rates`: check, compare, publish and look at rate cards."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from abacus.cli.rates.card_drafts import faultless, plans_of, publish_drafts, read_drafts
from abacus.cli.rates.card_timeline import list_cards, restore, show_timeline, withdraw
from abacus.cli.terminal.draft_plans import print_difference, print_faults
from abacus.cli.terminal.shell import AsJson, pool, print_json, run, table
from abacus.core.errors import absent
from abacus.pricing.decide.card import CardState, PublishedCard, RateCard, names_card, split_name, to_document, to_toml
from abacus.pricing.decide.diff import describe_changes
from abacus.pricing.store.cards import CardStore

app = typer.Typer(
    no_args_is_help=True, help="Rate cards: how many points a transaction earns, in each country, from each day."
)

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Rate cards in TOML.", show_default=False)]


@app.command()
def lint(files: Files, as_json: AsJson = False) -> None:
    """Check rate cards and print every fault with its path. Needs no database."""
    run(_lint(files, as_json=as_json))


@app.command()
def diff(
    file: Annotated[Path, typer.Argument(help="A rate card in TOML.", show_default=False)],
    against: Annotated[
        str | None, typer.Option(metavar="SCOPE@N", help="Default: the card that it displaces on its first day.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say in words what a rate card would change."""
    run(_diff(file, against, as_json=as_json))


@app.command()
def publish(
    files: Files,
    yes: Annotated[bool, typer.Option("--yes", help="Publish without asking. Only a terminal is asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Publish rate cards as new versions. A fault in any of them, and none is published."""
    run(_publish(files, ask=not yes and sys.stdin.isatty(), as_json=as_json))


@app.command()
def show(
    card: Annotated[str, typer.Argument(metavar="SCOPE[@N]|FILE", show_default=False)],
    as_json: AsJson = False,
    as_toml: Annotated[bool, typer.Option("--toml", help="Print it as a file to edit.")] = False,
) -> None:
    """Show a rate card: the latest of a scope, a version, or a file."""
    run(_show(card, as_json=as_json, as_toml=as_toml))


app.command("list")(list_cards)
app.command("timeline")(show_timeline)
app.command()(withdraw)
app.command()(restore)


async def _lint(files: list[Path], *, as_json: bool) -> None:
    drafts, faults = read_drafts(files)
    valid = {file: f"{card.scope} from {card.effective_from.isoformat()}" for file, card in drafts}
    print_faults(valid, faults, as_json=as_json)


async def _diff(file: Path, against: str | None, *, as_json: bool) -> None:
    (draft,) = faultless([file])
    async with pool() as connections:
        store = CardStore(connections)
        if against:
            old = await _published(store, against)
            name: str | None = old.name
            changes = describe_changes(old.card, draft.card)
        else:
            (plan,) = await plans_of(store, [draft])
            name, changes = plan.against, plan.changes
    print_difference(draft.origin, name, changes, as_json=as_json)


async def _publish(files: list[Path], *, ask: bool, as_json: bool) -> None:
    await publish_drafts(faultless(files), ask=ask, as_json=as_json)


async def _show(which: str, *, as_json: bool, as_toml: bool) -> None:
    name, card = _in_file(which) or await _in_store(which)
    document = to_document(card)
    if as_json:
        print_json({"name": name, "card": document})
    elif as_toml:
        typer.echo(to_toml(card), nl=False)
    else:
        table(name or which, ["field", "value"], _flat(document))


def _in_file(which: str) -> tuple[None, RateCard] | None:
    """The card of a file, which has no name yet. A word that can be a scope is a scope: write ./SG for a file called
    SG.
    """
    if names_card(which) or not Path(which).exists():
        return None
    (draft,) = faultless([Path(which)])
    return None, draft.card


async def _in_store(which: str) -> tuple[str, RateCard]:
    async with pool() as connections:
        published = await _published(CardStore(connections), which)
    return published.name, published.card


async def _published(store: CardStore, name: str) -> PublishedCard:
    """The version; of a scope, the latest that is not withdrawn. Raises `Refused`."""
    scope, version = split_name(name)
    cards = [record.published for record in await store.history(scope)]
    fitting = [
        card for card in cards if card.version == version or (version is None and card.state is not CardState.WITHDRAWN)
    ]
    if not fitting:
        raise absent("rate card", name, "`abacus rates timeline` prints all versions")
    return fitting[-1]


def _flat(document: Mapping[str, object], path: str = "") -> list[list[str]]:
    rows: list[list[str]] = []
    for name, value in document.items():
        rows += _flat(value, f"{path}{name}.") if isinstance(value, Mapping) else [[f"{path}{name}", str(value)]]
    return rows
