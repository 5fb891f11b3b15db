"""Draft rate cards: read from files, compared with the cards that they would displace, published."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import typer

from abacus.approving.executors import card_proposal
from abacus.cli.people.approvals import document, large_moves
from abacus.cli.terminal.acting import Acting, acting
from abacus.cli.terminal.draft_files import FileFault, read_files, refuse
from abacus.cli.terminal.draft_plans import agreed, unchanged
from abacus.cli.terminal.shell import pool, print_json, settings
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard, RateCard, country_of, parse_card
from abacus.pricing.decide.displacing import displacement
from abacus.pricing.store.cards import CardStore


class Draft(NamedTuple):
    """A card that is not published, and where it comes from: a file, or a version that is to be restored."""

    origin: str
    card: RateCard


class Plan(NamedTuple):
    """The changes that publishing a draft makes: against the card that it displaces on its first day, and until which
    card takes over. A published draft makes none.
    """

    draft: Draft
    against: str | None
    changes: list[str]
    until: str | None

    @property
    def file(self) -> str:
        return self.draft.origin


def read_drafts(files: Sequence[Path]) -> tuple[list[Draft], list[FileFault]]:
    cards, faults = read_files(files, parse_card)
    return [Draft(*read) for read in cards], faults


def faultless(files: Sequence[Path]) -> list[Draft]:
    """The cards of these files. Raises `DocumentFaults` with every fault of each."""
    drafts, faults = read_drafts(files)
    refuse(faults)
    return drafts


async def publish_drafts(drafts: Sequence[Draft], *, ask: bool, as_json: bool) -> None:
    """Say what the drafts change, ask, and publish those that change anything, or ask a second person to approve each.
    Raises `Refused`.
    """
    say = partial(typer.echo, err=as_json)  # standard output is for the one document
    needs_approval = settings().cards_need_approval
    rows: list[dict[str, object]] = []
    async with pool() as connections:
        store, at = CardStore(connections), await acting(connections)
        for draft in drafts:
            at.check(Deed.PUBLISH_RATES, country_of(draft.card.scope))
        plans = await plans_of(store, drafts)
        for plan in agreed(plans, "the cards are in the store already", ask=ask, say=say, more=_followed_by):
            if needs_approval:
                rows.append(await _ask(connections, at, plan, say))
                continue
            card = plan.draft.card
            also = at.does(
                Deed.PUBLISH_RATES, f"card:{card.scope}", country=country_of(card.scope), changes=plan.changes
            )
            published = await store.publish(card, by=at.actor.source, now=at.clock.now(), also=also)
            say(f"{published.name} published, effective from {published.card.effective_from.isoformat()}")
            rows.append(
                {
                    "file": plan.draft.origin,
                    "name": published.name,
                    "against": plan.against,
                    "until": plan.until,
                    "changes": plan.changes,
                }
            )
    if as_json:
        done = {"published": [], "waiting": rows} if needs_approval else {"published": rows}
        print_json(done | {"unchanged": unchanged(plans)})


async def _ask(opened: Pool, at: Acting, plan: Plan, say: Callable[[str], None]) -> dict[str, object]:
    approvals = large_moves(opened, at).approvals
    approval = await approvals.ask(card_proposal(plan.draft.card, plan.changes), at.actor.agent)
    say(f"{approval.status}: another person approves it with `abacus approvals approve {approval.approval_id}`")
    return {"file": plan.draft.origin, "approval": document(approval), "changes": plan.changes}


async def plans_of(store: CardStore, drafts: Sequence[Draft]) -> list[Plan]:
    """Each draft against the card that it displaces; that may be a draft before it."""
    cards: dict[str, list[PublishedCard]] = {}
    names: dict[str, str] = {}
    plans: list[Plan] = []
    for draft in drafts:
        scope = draft.card.scope
        if scope not in cards:
            cards[scope] = [record.published for record in await store.history(scope)]
        against, changes, until = displacement(draft.card, cards[scope])
        against, until = against and names.get(against, against), until and names.get(until, until)
        plans.append(Plan(draft, against, changes, until))
        if changes:
            following = PublishedCard(draft.card, cards[scope][-1].version + 1 if cards[scope] else 1)
            cards[scope].append(following)
            names[following.name] = draft.origin
    return plans


def _followed_by(plan: Plan) -> list[str]:
    return [f"until {plan.until} takes over"] if plan.until else []
