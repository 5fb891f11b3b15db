"""`abacus rates`: check, compare, publish and look at rate cards."""

import sys
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from abacus.cli.shell import AsJson, pool, print_json, run, table, who
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, SetAside
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import (
    CardFaults,
    Fault,
    PublishedCard,
    RateCard,
    names_card,
    parse_toml,
    split_name,
    to_document,
    to_toml,
)
from abacus.pricing.decide.diff import describe_changes
from abacus.pricing.store.cards import CardStore

app = typer.Typer(
    no_args_is_help=True, help="Rate cards: how many points a transaction earns, in each country, from each day."
)

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Rate cards in TOML.", show_default=False)]


class Draft(NamedTuple):
    """A card in a file."""

    file: Path
    card: RateCard


class FileFault(NamedTuple):
    """A fault and the file that has it."""

    file: Path
    fault: Fault


class Plan(NamedTuple):
    """The changes that publishing a draft makes, and the card that it is compared with. A published draft makes
    none.
    """

    draft: Draft
    against: str | None
    changes: list[str]


@app.command()
def lint(files: Files, as_json: AsJson = False) -> None:
    """Check rate cards and print every fault with its path. Needs no database."""
    run(_lint(files, as_json=as_json))


@app.command()
def diff(
    file: Annotated[Path, typer.Argument(help="A rate card in TOML.", show_default=False)],
    against: Annotated[str | None, typer.Option(metavar="SCOPE@N", help="Default: the latest of its scope.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say in words what a rate card would change."""
    run(_diff(file, against, as_json=as_json))


@app.command()
def publish(
    files: Files,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who publishes. Default: the user.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Publish without asking. Only a terminal is asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Publish rate cards as new versions. A fault in any of them, and none is published."""
    run(_publish(files, by, ask=not yes and sys.stdin.isatty(), as_json=as_json))


@app.command()
def show(
    card: Annotated[str, typer.Argument(metavar="SCOPE[@N]|FILE", show_default=False)],
    as_json: AsJson = False,
    as_toml: Annotated[bool, typer.Option("--toml", help="Print it as a file to edit.")] = False,
) -> None:
    """Show a rate card: the latest of a scope, a version, or a file."""
    run(_show(card, as_json=as_json, as_toml=as_toml))


@app.command("list")
def list_cards(as_json: AsJson = False) -> None:
    """List the scopes: the latest version of each, and the one in force now."""
    run(_list(SystemClock().now(), as_json=as_json))


async def _lint(files: list[Path], *, as_json: bool) -> None:
    drafts, faults = _read(files)
    if as_json:
        print_json(
            {
                "valid": [str(draft.file) for draft in drafts],
                "faults": [{"file": str(file), **fault._asdict()} for file, fault in faults],
            }
        )
    else:
        for draft in drafts:
            typer.echo(f"{draft.file}: {draft.card.scope} from {draft.card.effective_from.isoformat()}, no faults")
    _refuse(faults)


async def _diff(file: Path, against: str | None, *, as_json: bool) -> None:
    (draft,) = faultless([file])
    async with pool() as connections:
        store = CardStore(connections)
        old = await (_published(store, against) if against else store.latest(draft.card.scope))
    changes = describe_changes(old.card if old else None, draft.card)
    if as_json:
        print_json({"file": str(draft.file), "against": old.name if old else None, "changes": changes})
    elif old and not changes:
        typer.echo(f"{draft.file}: nothing changes against {old.name}")
    else:
        typer.echo("\n".join(changes))


async def _publish(files: list[Path], by: str | None, *, ask: bool, as_json: bool) -> None:
    drafts = faultless(files)
    say = partial(typer.echo, err=as_json)  # standard output is for the one document
    clock, by = SystemClock(), by or who()
    rows: list[dict[str, object]] = []
    async with pool() as connections:
        store = CardStore(connections)
        plans = await _plans(store, drafts)
        for plan in plans:
            say("\n".join([f"{plan.draft.file} against {plan.against or 'nothing'}:", *_indented(plan.changes)]))
        changing = [plan for plan in plans if plan.changes]
        if not changing:
            raise Refused("nothing to publish: the cards are in the store already")
        if ask and not typer.confirm("Publish?", err=True):
            raise Refused("nothing published")
        for plan in changing:
            published = await store.publish(plan.draft.card, by=by, now=clock.now())
            say(f"{published.name} published, effective from {published.card.effective_from.isoformat()}")
            rows.append({"file": str(plan.draft.file), "name": published.name, "changes": plan.changes})
    if as_json:
        unchanged = [str(plan.draft.file) for plan in plans if not plan.changes]
        print_json({"published": rows, "unchanged": unchanged})


async def _plans(store: CardStore, drafts: list[Draft]) -> list[Plan]:
    """Each draft against the latest version of its scope, or against the draft of the same scope before it."""
    plans: list[Plan] = []
    before: dict[str, tuple[RateCard | None, str | None]] = {}
    for draft in drafts:
        scope = draft.card.scope
        if scope not in before:
            latest = await store.latest(scope)
            before[scope] = (latest.card, latest.name) if latest else (None, None)
        old, name = before[scope]
        plans.append(Plan(draft, name, describe_changes(old, draft.card)))
        before[scope] = (draft.card, str(draft.file))
    return plans


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
    scope, version = split_name(name)
    card = await (store.get(scope, version) if version else store.latest(scope))
    if card is None:
        raise Refused(f"no rate card {name} is published; `abacus rates list` prints the published cards")
    return card


async def _list(now: datetime, *, as_json: bool) -> None:
    async with pool() as connections:
        book = CardBook(await CardStore(connections).all())
    rows = [_row(book, scope, now) for scope in book.scopes()]
    if as_json:
        print_json(rows)
        return
    columns = ["scope", "version", "effective_from", "program", "in_force"]
    table("rate cards", columns, [[str(row[column] or "-") for column in columns] for row in rows])


def _row(book: CardBook, scope: str, now: datetime) -> dict[str, object]:
    latest = book.versions(scope)[-1]
    try:
        in_force = book.in_force(scope, now).name
    except SetAside:  # its first card begins later
        in_force = None
    return {
        "scope": scope,
        "version": latest.version,
        "name": latest.name,
        "effective_from": latest.card.effective_from.isoformat(),
        "program": latest.card.program,
        "in_force": in_force,
    }


def _read(files: list[Path]) -> tuple[list[Draft], list[FileFault]]:
    drafts: list[Draft] = []
    faults: list[FileFault] = []
    for file in files:
        try:
            drafts.append(Draft(file, parse_toml(file.read_bytes().decode("utf-8-sig"))))
        except CardFaults as error:
            faults += [FileFault(file, fault) for fault in error.faults]
        except UnicodeDecodeError as error:
            faults.append(FileFault(file, Fault("document", f"not UTF-8 at byte {error.start}")))
        except OSError as error:
            faults.append(FileFault(file, Fault("document", error.strerror or str(error))))
    return drafts, faults


def faultless(files: list[Path]) -> list[Draft]:
    """The cards of these files. Raises `CardFaults` with every fault of each."""
    drafts, faults = _read(files)
    _refuse(faults)
    return drafts


def _refuse(faults: list[FileFault]) -> None:
    if faults:
        raise CardFaults(Fault(f"{file}: {fault.path}", fault.message) for file, fault in faults)


def _flat(document: Mapping[str, object], path: str = "") -> list[list[str]]:
    rows: list[list[str]] = []
    for name, value in document.items():
        rows += _flat(value, f"{path}{name}.") if isinstance(value, Mapping) else [[f"{path}{name}", str(value)]]
    return rows


def _indented(changes: list[str]) -> list[str]:
    return [f"  {change}" for change in changes or ["nothing changes"]]
