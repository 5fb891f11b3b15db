"""`abacus quarantine`: the items that were set aside, their reasons, and replaying them."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

from abacus.cli.quarantine.replay_preview import previews
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, Columns, Table, counted, tell
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import check_country
from abacus.cli.terminal.progress import spinner
from abacus.cli.terminal.shell import CommandGroup, moment, pool, settings, sqs
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, Refused, absent
from abacus.core.signature import Producer, read_keys, signer_for
from abacus.intake.earning.decide.source_message import SourceMessage, encode_retry
from abacus.oversight.where.decide.mentions import mentions
from abacus.people.types.deed import Deed
from abacus.platform.quarantine.replay import readable
from abacus.platform.quarantine.replay import replay as replay_items
from abacus.platform.quarantine.store import HELD, QuarantineStore, Which
from abacus.platform.quarantine.types import AWARD_QUEUE, CAMPAIGN_RETRY_QUEUE, EXPIRY_QUEUE, RETRY_QUEUE, HeldItem
from abacus.platform.sqs.definition import AWARD, CAMPAIGN_RETRY, EXPIRY, RETRY
from abacus.platform.sqs.queue import SqsQueue
from abacus.signals.events.wiring import replaying_events

app = CommandGroup(help="Messages that could not be processed.", no_args_is_help=True)

# The queues that items came from, by their origin.
_QUEUES: Final = {
    AWARD_QUEUE: AWARD,
    RETRY_QUEUE: RETRY,
    EXPIRY_QUEUE: EXPIRY,
    CAMPAIGN_RETRY_QUEUE: CAMPAIGN_RETRY,
}
_MOST_PREVIEWED: Final = 10_000
_AT_ONCE: Final = 1000  # items in one transaction; an item that fails again meanwhile is not taken a second time

_COLUMNS: Final[Columns[HeldItem]] = {
    "id": lambda held: held.item.id,
    "status": lambda held: held.status,
    "reason": lambda held: str(held.item.reason),
    "origin": lambda held: held.item.origin,
    "set aside": lambda held: held.set_aside_at.isoformat(timespec="seconds"),
    "detail": lambda held: held.item.detail,
}

OnlyReason = Annotated[Reason | None, typer.Option("--reason", help="Only items with this reason.")]


@app.command("list")
async def list_items(
    reason: OnlyReason = None,
    source: Annotated[
        str | None, typer.Option(help="Only items of this source, such as rides, or of this partner.")
    ] = None,
    country: Annotated[str | None, typer.Option(help="Only items of this country.", metavar="SG")] = None,
    since: Annotated[str | None, typer.Option(help="Only items set aside since this time, with its offset.")] = None,
    until: Annotated[str | None, typer.Option(help="Only items set aside before this time, with its offset.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also items that were replayed.")] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="The most items to print; the counts are of all.")
    ] = 100,
) -> Answer:
    """List the held items, newest first, with counts by reason."""
    check_country(country)
    which = Which(
        status=None if everything else HELD,
        reason=reason,
        since=None if since is None else moment("--since", since),
        until=None if until is None else moment("--until", until),
    )
    async with pool() as opened:
        store = QuarantineStore(opened, SystemClock())
        if source is None and country is None:
            items, counts = list(await store.list(which, limit=limit)), await store.counts(which)
        else:
            items, counts = await _of_source_and_country(store.all(which), source, country, limit)
    columns = _COLUMNS if everything else {name: read for name, read in _COLUMNS.items() if name != "status"}
    by_reason = ", ".join(f"{count:,} {each}" for each, count in sorted(counts.items()))
    shown = f"; the newest {limit:,}:" if sum(counts.values()) > len(items) else ""
    total = f"{sum(counts.values()):,} {'items' if everything else 'held'}"
    return Answer(
        [_document(held) for held in items],
        Table.of(f"{total}{': ' if by_reason else ''}{by_reason}{shown}", items, columns),
    )


async def _of_source_and_country(
    items: AsyncIterator[HeldItem], source: str | None, country: str | None, limit: int
) -> tuple[list[HeldItem], Counter[Reason]]:
    """The newest of the items that speak of the source and the country, and how many there are, by reason."""
    newest, counts = list[HeldItem](), Counter[Reason]()
    async for held in items:
        if any(source in {None, e.source} and country in {None, e.country} for e in mentions(held.item.body)):
            counts[held.item.reason] += 1
            if len(newest) < limit:
                newest.append(held)
    return newest, counts


@app.command()
async def show(id_: Annotated[str, typer.Argument(metavar="ID")]) -> Answer:
    """Show one item with its whole body."""
    async with pool() as opened:
        held = await QuarantineStore(opened, SystemClock()).get(id_)
    if held is None:
        raise absent("item of the quarantine", id_, "`abacus quarantine list` prints all")
    document = _document(held)
    lines = (f"{name}: {value}" for name, value in document.items() if value is not None and name != "body")
    return Answer(document, *lines, readable(held.item.body))


@app.command()
async def replay(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]…", help="These items.")] = None,
    ids_from: Annotated[
        Path | None, typer.Option("--ids-from", metavar="FILE", help="These items, one id a line.")
    ] = None,
    reason: OnlyReason = None,
    everything: Annotated[bool, typer.Option("--all", help="Every held item.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="The most items to replay.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would come of each item. Nothing is sent.")
    ] = False,
) -> Answer:
    """Send held items through the pipeline again. An item that fails again is held again under its old id."""
    chosen = _Chosen([*(ids or ()), *_ids_in(ids_from)], reason, limit)
    if not (ids or ids_from or reason or everything):
        raise Refused("say which: ids, --ids-from FILE, --reason REASON, or --all")
    if ids_from is not None and not chosen.ids:
        raise Refused(f"--ids-from: {ids_from} has no id")
    await _check_there(ids or ())
    return await (_previewed(chosen) if dry_run else _replayed(chosen))


async def _check_there(ids: Sequence[str]) -> None:
    """Before anything is sent. Raises `Absent`."""
    if ids:
        async with pool() as opened:
            store = QuarantineStore(opened, SystemClock())
            for id_ in ids:
                if await store.get(id_) is None:
                    raise absent("item of the quarantine", id_, "`abacus quarantine list` prints all")


class _Chosen(NamedTuple):
    """Which items, and how many at most. Ids leave nothing to choose."""

    ids: Sequence[str]
    reason: Reason | None
    limit: int | None


def _ids_in(file: Path | None) -> list[str]:
    """Raises `Refused`."""
    if file is None:
        return []
    try:
        return file.read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"--ids-from: {file}: {error}") from None


async def _previewed(chosen: _Chosen) -> Answer:
    async with actor() as at:
        at.check(Deed.SEE)
        held = await QuarantineStore(at.pool, SystemClock()).replayable(
            Which(reason=chosen.reason, ids=chosen.ids), limit=chosen.limit or _MOST_PREVIEWED
        )
        found = await previews([each.item for each in held], at.pool, settings())
    missing = sorted(set(chosen.ids) - {each.id for each in found})
    counts = Counter(str(each.outcome) for each in found)
    document = {"items": len(found), "outcomes": counts, "missing": missing, "rows": [each._asdict() for each in found]}
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(counts.items()))
    cells = [[each.id, str(each.reason), each.outcome, each.says] for each in found]
    title = f"{counted(len(found), 'item')}{': ' if told else ''}{told}"
    return Answer(document, Table(title, ["id", "reason", "outcome", "says"], cells), _Missing(missing))


async def _replayed(chosen: _Chosen) -> Answer:
    config, replayed, unfit, began = settings(), list[str](), list[str](), SystemClock().now()
    signer = signer_for(read_keys(config.envelope_keys), Producer.OPERATOR)
    async with actor() as at, sqs(config) as client:
        told = at.does(Deed.REPLAY, "quarantine", ids=chosen.ids or None, reason=chosen.reason, limit=chosen.limit)
        queues = {origin: await SqsQueue.find(client, config.queue_prefix + name) for origin, name in _QUEUES.items()}
        left = list(chosen.ids)
        with spinner("{task.completed:,} sent on") as progress:
            task = progress.add_task("sent on", total=len(left) or None)
            while wanted := _wanted(chosen, len(replayed) + len(unfit)):
                ids, left = left[:wanted], left[wanted:]
                done = await replay_items(
                    QuarantineStore(at.pool, SystemClock()),
                    Which(reason=chosen.reason, until=None if ids else began, ids=ids),
                    queues=queues,
                    encode_transaction=lambda item: encode_retry(
                        SourceMessage(item.body, item.origin, cause=str(item.reason))
                    ),
                    publish_events=replaying_events(at.pool, config),
                    sign=str if signer is None else signer.sign,
                    limit=wanted,
                    also=told,
                )
                replayed += [item.id for item in done.sent]
                unfit += [item.id for item in done.still_held]
                progress.update(task, completed=len(replayed))
                if not left and (ids or len(done.sent) + len(done.still_held) < wanted):
                    break
    missing = sorted(set(chosen.ids) - set(replayed) - set(unfit))
    document = {"replayed": replayed, "still_held": unfit, "missing": missing}
    still = [Aside(f"still held, each with its present fault: {', '.join(unfit)}")] if unfit else []
    return Answer(document, f"{counted(len(replayed), 'item')} sent on again", *still, _Missing(missing))


def _wanted(chosen: _Chosen, had: int) -> int:
    """How many are taken at once."""
    return _AT_ONCE if chosen.limit is None else min(_AT_ONCE, chosen.limit - had)


class _Missing(NamedTuple):
    """Ids that were asked for and are not held. A person's command ends with 1; a program reads them."""

    ids: Sequence[str]

    def print(self) -> None:
        if self.ids:
            tell(Aside(f"not held, or too large for a queue: {', '.join(self.ids)}"))
            raise typer.Exit(EXIT_FAILED)


def _document(held: HeldItem) -> dict[str, Any]:
    return {
        "id": held.item.id,
        **asdict(held.item),
        "status": held.status,
        "set_aside_at": held.set_aside_at.isoformat(),
        "replayed_at": held.replayed_at.isoformat() if held.replayed_at else None,
        "replays": held.replays,
        "body": held.item.body.decode("utf-8", "backslashreplace"),
    }
