"""`abacus rates list`, `timeline`, `withdraw` and `restore`: the cards of each scope along time."""

import sys
from datetime import datetime
from typing import Annotated

import typer

from abacus.cli.documents.commands import publish_drafts
from abacus.cli.documents.drafts import FileDraft
from abacus.cli.rates.family import FAMILY, card_desk
from abacus.cli.terminal.answer import Answer, AsJson, Table
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.known import checked_reason
from abacus.cli.terminal.shell import moment
from abacus.core.errors import Refused, SetAside, absent
from abacus.documents.store import by_key
from abacus.people.types.deed import Deed
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard, country_of, split_name
from abacus.pricing.decide.timeline import Span, next_of, published_card, timeline

Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking. Only a terminal is asked.")]
Version = Annotated[str, typer.Argument(metavar="SCOPE@N", show_default=False)]


async def list_cards() -> Answer:
    """List the scopes: the card in force now, and the one that takes over next."""
    async with at_desk(card_desk) as (desk, _):
        book, now = await desk.book(), desk.now()
    rows = [_row(book, scope, now) for scope in book.scopes()]
    columns = ["scope", "program", "in_force", "since", "next", "next_from"]
    return Answer(rows, Table("rate cards", columns, [[str(row[column] or "-") for column in columns] for row in rows]))


async def show_timeline(
    scope: Annotated[str | None, typer.Argument(metavar="[SCOPE]", show_default=False)] = None,
) -> Answer:
    """Show every version: from when until when it is in force, and who published, approved or withdrew it."""
    if scope is not None and split_name(scope)[1] is not None:
        raise Refused(f"{scope!r} is a version; a timeline is of a scope, such as {split_name(scope)[0]}")
    async with at_desk(card_desk) as (desk, _):
        records, now = await desk.history(scope), desk.now()
    if scope is not None and not records:
        raise absent("rate card of", scope, "`abacus rates list` prints all scopes")
    rows = [_span(span) for group in by_key(records).values() for span in timeline(group, now)]
    columns = ["name", "phase", "effective_from", "until", "published_by", "approved_by", "withdrawn_by"]
    return Answer(
        rows, Table("rate cards along time", columns, [[str(row[column] or "-") for column in columns] for row in rows])
    )


async def withdraw(
    card: Version,
    reason: Annotated[str, typer.Option(help="Why; kept with the card.", show_default=False)],
    yes: Yes = False,
) -> Answer:
    """Withdraw a card that is scheduled: it will never be in force. Until 10 minutes before it begins."""
    ask = not yes and sys.stdin.isatty()
    scope, version = _version(card)
    why = checked_reason(reason)
    if ask and not typer.confirm(f"Withdraw {card}? It cannot be published again under this number.", err=True):
        raise Refused("nothing withdrawn")
    async with at_desk(card_desk) as (desk, at):
        at.check(Deed.PUBLISH_RATES, country_of(scope))
        withdrawn = published_card(await desk.take_back(scope, version, why, at.actor))
        instead = _instead(await desk.book(), withdrawn)
    start = withdrawn.card.effective_from.isoformat()
    return Answer(
        {"withdrawn": withdrawn.name, "instead": instead},
        f"{withdrawn.name} withdrawn; {instead or 'no card'} is in force from {start} on",
    )


async def restore(
    card: Version,
    start: Annotated[str, typer.Option("--from", metavar="TIME", help="When it takes over, with an offset.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Publish the content of an old version anew, from a time on."""
    ask = not yes and sys.stdin.isatty()
    _version(card)
    begins = moment("--from", start)
    async with at_desk(card_desk) as (desk, at):
        drafts = [FileDraft(card, await desk.restored(card, begins))]
        await publish_drafts(FAMILY, desk, at, drafts, ask=ask, as_json=as_json)


def _row(book: CardBook, scope: str, now: datetime) -> dict[str, object]:
    latest, following = book.versions(scope)[-1], next_of(book, scope, now)
    try:
        current = book.expected(scope, now)
    except SetAside:  # its first card begins later
        current = None
    return {
        "scope": scope,
        "version": latest.version,
        "name": latest.name,
        "effective_from": latest.card.effective_from.isoformat(),
        "program": latest.card.program,
        "in_force": current and current.name,
        "since": current and current.card.effective_from.isoformat(),
        "next": following and following.name,
        "next_from": following and following.card.effective_from.isoformat(),
    }


def _span(span: Span) -> dict[str, object]:
    record, published, withdrawal = span.record, span.published, span.record.version.withdrawal
    card = published.card
    return {
        "scope": card.scope,
        "version": published.version,
        "name": published.name,
        "phase": span.phase,
        "effective_from": card.effective_from.isoformat(),
        "until": span.until and span.until.isoformat(),
        "published_at": record.published_at.isoformat(),
        "published_by": record.published_by,
        "approved_by": record.version.own["approved_by"],
        "withdrawn_at": withdrawal and withdrawal.at.isoformat(),
        "withdrawn_by": withdrawal and withdrawal.by,
        "withdrawn_because": withdrawal and withdrawal.reason,
    }


def _instead(book: CardBook, withdrawn: PublishedCard) -> str | None:
    try:
        return book.expected(withdrawn.card.scope, withdrawn.card.effective_from).name
    except SetAside:
        return None


def _version(card: str) -> tuple[str, int]:
    scope, version = split_name(card)
    if version is None:
        raise Refused(f"{card!r} names no version; write one such as {scope}@1")
    return scope, version
