"""`abacus explain`: how points came about, calculated again by what is known now."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.campaigns.campaign_events import read_event
from abacus.cli.members.transfers import facts_of
from abacus.cli.terminal.answer import EXIT_FAILED, Answer
from abacus.cli.terminal.shell import pool, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, absent
from abacus.core.ids import CAMPAIGNS
from abacus.engage.campaigns.decide.checks import Check, checks_of
from abacus.engage.campaigns.explained import given_of
from abacus.engage.campaigns.granted import GrantTold, grants_under
from abacus.engage.offers.decide.paid import Comparison
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.erasure.decide.pseudonym import PSEUDONYM
from abacus.oversight.life.decide.told import vesting_words
from abacus.oversight.redeemed.decide.named import Named
from abacus.oversight.redeemed.reader import RedeemedReader
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.explanation.text import UnknownExplanation, UnreadableExplanation, read
from abacus.pricing.explanation.types import Campaigned
from abacus.pricing.explanation.words import in_words
from abacus.pricing.store.cards import CardStore
from abacus.proof.decide.recompute import recompute
from abacus.signals.events.wiring import built_in_sources
from abacus.signals.places.locating import locate_now

_AGREES = {True: "agrees", False: "DOES NOT AGREE", None: "cannot be told"}


async def explain(
    key: Annotated[
        str, typer.Argument(help="Its key, for example txn:rides:T-1001, or expiry:2026-07:MEMBER:PROGRAM.")
    ],
    event: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Of a campaign's points: the event, as it was published; - is standard input."
        ),
    ] = None,
) -> Answer:
    """Show how points were awarded, and calculate them again from the card, and from the campaign's document; or how
    they lapsed. Of a campaign's step, what it granted. Exit 1 when something does not agree.
    """
    async with pool() as opened:
        reader = LedgerReader(opened)
        claim = await reader.claim(key)
        transfer = await reader.transfer(claim) if claim else None
        grants = await grants_under(opened, key) if key.startswith(CAMPAIGNS) else []
        if claim is None or transfer is None:
            if grants:
                return Answer(_grants(grants), *_granted(grants))
            raise absent("award with the key", key, "`abacus where` says where it is")
        book = CardBook(await CardStore(opened).all())
        checks = await _checked(transfer, book, event, opened)
        redeemed = (await RedeemedReader(opened).of(transfer.member_id, [transfer])).get(key)
    difference = recompute(transfer, book)
    compared = [] if redeemed is None else list(redeemed.compared)
    shown: list[Check | Comparison] = [*checks, *compared]
    disagrees = any(each.agrees is False for each in shown)
    return Answer(
        {**_document(transfer, difference, checks, redeemed), **_grants(grants)},
        *explained(transfer, difference, shown),
        *_granted(grants),
        exit_code=EXIT_FAILED if difference is not None or disagrees else 0,
    )


async def _checked(transfer: Transfer, book: CardBook, event: Path | None, opened: Pool) -> Sequence[Check]:
    """The checks of points of a campaign; none of others. Raises `Refused`."""
    try:
        why = read(transfer.explanation)
    except (UnknownExplanation, UnreadableExplanation):
        return []
    if not isinstance(why, Campaigned):
        if event is not None:
            raise Refused(f"--event: {transfer.key} is not of a campaign")
        return []
    sources, now = built_in_sources(settings()), SystemClock().now()
    given = await given_of(transfer, why, pool=opened, built_in=sources, book=book, now=now)
    given = replace(given, erased=transfer.member_id.startswith(PSEUDONYM))
    if event is not None and given.campaign is not None:
        given = replace(given, event=read_event(event, given.campaign, given.around, await locate_now(opened)))
    return list(checks_of(given))


def _until(transfer: Transfer) -> str:
    has_day = transfer.expires_on is not None and (transfer.balance_after > 0 or transfer.points > 0)
    return f", good until {transfer.expires_on}" if has_day else ""


def explained(transfer: Transfer, difference: str | None, checks: Sequence[Check | Comparison] = ()) -> list[str]:
    """The calculation in a few lines, as a person would write it down."""
    lines = [
        f"{transfer.key}: {transfer.points} points ({transfer.program}) for {transfer.member_id}",
        f"  occurred {transfer.occurred_at.isoformat()}, posted {transfer.posted_at.isoformat()}",
        f"  as #{transfer.seq} of the account: balance {transfer.balance_after}{_until(transfer)}",
        *(f"  {line}" for line in vesting_words(transfer)),
    ]
    try:
        lines += [f"  {line}" for line in in_words(read(transfer.explanation), transfer.actor)]
    except UnknownExplanation:
        lines.append("  this version of Abacus does not know such an explanation:")
        lines.append(f"  {transfer.explanation.decode()}")
    except UnreadableExplanation as fault:
        lines.append(f"  the explanation cannot be read: {fault.detail}:")
        lines.append(f"  {transfer.explanation.decode()}")
    lines.append(f"  recomputed now: {difference or 'same'}")
    lines += [f"  {_AGREES[check.agrees]}: {check.words}" for check in checks]
    return lines


def _granted(grants: Sequence[GrantTold]) -> list[str]:
    return [
        f"{each.key}: {each.granted} for {each.member_id}, by step {each.step} of {each.campaign}@{each.version}:"
        f" {each.came}"
        for each in grants
    ]


def _grants(grants: Sequence[GrantTold]) -> dict[str, Any]:
    return {"grants": [each._asdict() for each in grants]} if grants else {}


def _document(
    transfer: Transfer, difference: str | None, checks: Sequence[Check], redeemed: Named | None
) -> dict[str, Any]:
    document = {**facts_of(transfer), "member_id": transfer.member_id, "recomputed": difference or "same"}
    if redeemed is not None:
        document |= {"redeemed": redeemed.document}
    return document | ({"checks": [check._asdict() for check in checks]} if checks else {})
