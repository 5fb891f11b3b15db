"""Draft rate cards: read from files, compared with the cards that they would displace, published."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import typer

from abacus.approving import card_proposal
from abacus.cli.acting import Acting, acting
from abacus.cli.approvals import document, large_moves
from abacus.cli.shell import pool, print_json, settings
from abacus.core.errors import Refused
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import CardFaults, Fault, PublishedCard, RateCard, country_of, parse_toml
from abacus.pricing.decide.diff import describe_changes
from abacus.pricing.decide.timeline import place_of
from abacus.pricing.store.cards import CardStore


class Draft(NamedTuple):
    """A card that is not published, and where it comes from: a file, or a version that is to be restored."""

    origin: str
    card: RateCard


class FileFault(NamedTuple):
    """A fault and the file that has it."""

    file: Path
    fault: Fault


class Plan(NamedTuple):
    """The changes that publishing a draft makes: against the card that it displaces on its first day, and until which
    card takes over. A published draft makes none.
    """

    draft: Draft
    against: str | None
    changes: list[str]
    until: str | None


def read_drafts(files: Sequence[Path]) -> tuple[list[Draft], list[FileFault]]:
    drafts: list[Draft] = []
    faults: list[FileFault] = []
    for file in files:
        try:
            drafts.append(Draft(str(file), parse_toml(file.read_bytes().decode("utf-8-sig"))))
        except CardFaults as error:
            faults += [FileFault(file, fault) for fault in error.faults]
        except UnicodeDecodeError as error:
            faults.append(FileFault(file, Fault("document", f"not UTF-8 at byte {error.start}")))
        except OSError as error:
            faults.append(FileFault(file, Fault("document", error.strerror or str(error))))
    return drafts, faults


def faultless(files: Sequence[Path]) -> list[Draft]:
    """The cards of these files. Raises `CardFaults` with every fault of each."""
    drafts, faults = read_drafts(files)
    refuse(faults)
    return drafts


def refuse(faults: Sequence[FileFault]) -> None:
    """Raises `CardFaults` if there is any."""
    if faults:
        raise CardFaults(Fault(f"{file}: {fault.path}", fault.message) for file, fault in faults)


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
        for plan in plans:
            say("\n".join([f"{plan.draft.origin} against {plan.against or 'nothing'}:", *_indented(plan)]))
        changing = [plan for plan in plans if plan.changes]
        if not changing:
            raise Refused("nothing to publish: the cards are in the store already")
        if ask and not typer.confirm("Publish?", err=True):
            raise Refused("nothing published")
        for plan in changing:
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
        unchanged = [plan.draft.origin for plan in plans if not plan.changes]
        done = {"published": [], "waiting": rows} if needs_approval else {"published": rows}
        print_json(done | {"unchanged": unchanged})


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
        displaced, successor = place_of(draft.card, cards[scope])
        changes = describe_changes(displaced.card if displaced else None, draft.card)
        against = names.get(displaced.name, displaced.name) if displaced else None
        until = names.get(successor.name, successor.name) if successor else None
        plans.append(Plan(draft, against, changes, until))
        if changes:
            following = PublishedCard(draft.card, cards[scope][-1].version + 1 if cards[scope] else 1)
            cards[scope].append(following)
            names[following.name] = draft.origin
    return plans


def _indented(plan: Plan) -> list[str]:
    until = [f"until {plan.until} takes over"] if plan.until and plan.changes else []
    return [f"  {line}" for line in [*(plan.changes or ["nothing changes"]), *until]]
