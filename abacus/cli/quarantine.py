"""`abacus quarantine`: the items that were set aside, their reasons, and replaying them."""

from typing import Annotated, Any, Final

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from abacus.cli.acting import acting
from abacus.cli.shell import AsJson, console, counted, errors, pool, print_json, run, settings, sqs, table
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason, Refused
from abacus.core.vouching import Producer, read_keys, signer_for
from abacus.intake.earning.decide.source_message import SourceMessage, encode_retry
from abacus.people.types.deed import Deed
from abacus.platform.quarantine.replay import readable
from abacus.platform.quarantine.replay import replay as replay_items
from abacus.platform.quarantine.store import HELD, QuarantineStore
from abacus.platform.quarantine.types import AWARD_QUEUE, EXPIRY_QUEUE, RETRY_QUEUE, HeldItem
from abacus.platform.sqs.definition import AWARD, EXPIRY, RETRY
from abacus.platform.sqs.queue import SqsQueue

app = typer.Typer(help="Messages that could not be processed.", no_args_is_help=True)

_AT_ONCE: Final = 1000  # items in one transaction; an item that fails again meanwhile is not taken a second time

OnlyReason = Annotated[Reason | None, typer.Option("--reason", help="Only items with this reason.")]


@app.command("list")
def list_items(
    reason: OnlyReason = None,
    everything: Annotated[bool, typer.Option("--all", help="Also those that were replayed.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100,
    as_json: AsJson = False,
) -> None:
    """List the held items, newest first."""

    async def main() -> None:
        async with pool() as opened:
            store = QuarantineStore(opened, SystemClock())
            items = await store.list(status=None if everything else HELD, reason=reason, limit=limit)
            counts = await store.counts()
        if as_json:
            print_json([_document(held) for held in items])
            return
        rows = [
            [
                held.item.id,
                *([held.status] if everything else []),
                str(held.item.reason),
                held.item.origin,
                held.set_aside_at.isoformat(timespec="seconds"),
                held.item.detail,
            ]
            for held in items
        ]
        by_reason = ", ".join(f"{count:,} {each}" for each, count in counts.items())
        status = ["status"] if everything else []
        table(
            f"{sum(counts.values()):,} held{': ' if by_reason else ''}{by_reason}",
            ["id", *status, "reason", "origin", "set aside", "detail"],
            rows,
        )

    run(main())


@app.command()
def show(id_: Annotated[str, typer.Argument(metavar="ID")], as_json: AsJson = False) -> None:
    """Show one item with its whole body."""

    async def main() -> None:
        async with pool() as opened:
            held = await QuarantineStore(opened, SystemClock()).get(id_)
        if held is None:
            raise Refused(f"the quarantine has no item {id_!r}")
        if as_json:
            print_json(_document(held))
            return
        for name, value in _document(held).items():
            if value is not None and name != "body":
                console.print(f"{name}: {value}", highlight=False, markup=False)
        console.print(readable(held.item.body), highlight=False, markup=False)

    run(main())


@app.command()
def replay(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]…", help="These items.")] = None,
    reason: OnlyReason = None,
    everything: Annotated[bool, typer.Option("--all", help="Every held item.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
    as_json: AsJson = False,
) -> None:
    """Send held items through the pipeline again. An item that fails again is held again under its old id."""

    async def main() -> None:
        if not (ids or reason or everything):
            raise Refused("say which: ids, --reason REASON, or --all")
        config, replayed, began = settings(), list[str](), SystemClock().now()
        signer = signer_for(read_keys(config.envelope_keys), Producer.OPERATOR)
        columns = (SpinnerColumn(), TextColumn("{task.completed:,} sent on"), TimeElapsedColumn())
        async with pool() as opened, sqs(config) as client:
            at = await acting(opened)
            queues = {
                origin: await SqsQueue.find(client, config.queue_prefix + name)
                for origin, name in ((AWARD_QUEUE, AWARD), (RETRY_QUEUE, RETRY), (EXPIRY_QUEUE, EXPIRY))
            }
            with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
                task = progress.add_task("", total=None)
                while wanted := _AT_ONCE if limit is None else min(_AT_ONCE, limit - len(replayed)):
                    items = await replay_items(
                        QuarantineStore(opened, SystemClock()),
                        queues=queues,
                        encode_transaction=lambda item: encode_retry(
                            SourceMessage(item.body, item.origin, cause=str(item.reason))
                        ),
                        sign=str if signer is None else signer.sign,
                        ids=ids or (),
                        reason=reason,
                        set_aside_before=None if ids else began,
                        limit=wanted,
                        also=at.does(Deed.REPLAY, "quarantine", ids=ids or None, reason=reason, limit=limit),
                    )
                    replayed += [item.id for item in items]
                    progress.update(task, completed=len(replayed))
                    if len(items) < wanted:
                        break
        if as_json:
            print_json({"replayed": replayed})
        else:
            console.print(f"{counted(len(replayed), 'item')} sent on again", highlight=False)
            missing = sorted(set(ids or ()) - set(replayed))
            if missing:
                errors.print(f"not held, or too large for a queue: {', '.join(missing)}", highlight=False)

    run(main())


def _document(held: HeldItem) -> dict[str, Any]:
    item = held.item
    return {
        "id": item.id,
        "stage": str(item.stage),
        "origin": item.origin,
        "reason": str(item.reason),
        "detail": item.detail,
        "key": item.key,
        "fingerprint": item.fingerprint,
        "posted_fingerprint": item.posted_fingerprint,
        "status": held.status,
        "set_aside_at": held.set_aside_at.isoformat(),
        "replayed_at": held.replayed_at.isoformat() if held.replayed_at else None,
        "replays": held.replays,
        "body": item.body.decode("utf-8", "backslashreplace"),
    }
