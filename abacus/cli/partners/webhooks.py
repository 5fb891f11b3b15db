"""`abacus partners webhook`: the address at which a partner is told the outcome of its awards."""

from datetime import timedelta
from typing import Annotated, Any, Final

import typer

from abacus.cli.partners.partner_words import PartnerId
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, Columns, Secret, Shown, Table, counted
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.shell import CommandGroup, pool, secrets, settings
from abacus.core.clock import SystemClock
from abacus.intake.partners.webhooks.desk import WebhookDesk
from abacus.intake.partners.webhooks.store import Undelivered, UndeliveredCounts, Webhook, WebhookStore
from abacus.intake.partners.webhooks.trial import Trial, try_webhook
from abacus.people.types.deed import Deed
from abacus.platform.delivery.post import Poster

app = CommandGroup(help="Webhooks that tell partners the outcome of their awards.", no_args_is_help=True)


OverlapHours = Annotated[
    float, typer.Option(min=0, max=24 * 90, help="Hours for which messages are also signed with the current secret.")
]

_UNDELIVERED: Final[Columns[Undelivered]] = {
    "message": lambda each: each.message_id,
    "type": lambda each: each.type,
    "since": lambda each: each.created_at,
    "tries": lambda each: str(each.attempts),
    "next": lambda each: "given up" if each.given_up_at is not None else each.due_at,
    "last error": lambda each: each.last_error,
}


@app.command("set")
async def set_webhook(
    partner: PartnerId,
    url: Annotated[str, typer.Argument(metavar="URL", help="The address that messages are posted to; https.")],
) -> Answer:
    """Tell a partner of its awards from now on, and print the secret that signs the messages. It is not shown again.

    If the partner has a webhook, it gets the new address, is enabled, and keeps its secret.
    """
    async with actor() as at:
        desk = _desk(at)
        checked = desk.checked(url)
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{partner}", did="webhook", url=checked)
        secret = await desk.set(partner, checked, also=also)
    shown: Shown = Aside("the secret stays the same; `abacus partners webhook rotate-secret` makes a new one")
    if secret is not None:
        shown = Secret("and messages are signed with this secret, which is shown this once", secret)
    return Answer({"partner_id": partner, "url": checked, "secret": secret}, f"{partner} is told at {checked}", shown)


@app.command("show")
async def show(partner: PartnerId) -> Answer:
    """Show a partner's webhook, its age, and how many messages did not arrive."""
    async with pool() as opened:
        webhook, counts = await WebhookStore(opened, SystemClock()).get(partner)
    return Answer(webhook._asdict() | counts._asdict(), *_lines(webhook, counts))


@app.command("rotate-secret")
async def rotate_secret(partner: PartnerId, overlap_hours: OverlapHours = 24.0) -> Answer:
    """Print a new secret. For a while each message carries two signatures, by the new secret and by the one before."""
    async with actor() as at:
        also = at.does(
            Deed.EDIT_PARTNERS, f"partner:{partner}", did="rotate-webhook-secret", overlap_hours=overlap_hours
        )
        secret, until = await _desk(at).rotate_secret(partner, timedelta(hours=overlap_hours), also=also)
    return Answer(
        {"partner_id": partner, "secret": secret, "former_secret_until": until.isoformat()},
        Secret(f"the secret so far signs too until {until:%Y-%m-%d %H:%M} UTC; the new one, shown this once", secret),
    )


@app.command("test")
async def send_trial(partner: PartnerId) -> Answer:
    """Send a message of the type abacus.test, signed as every other, and print the receiver's answer.

    It is sent once, also to a disabled webhook. The command fails unless the answer is a 2xx.
    """
    poster, clock = Poster(to_private=settings().webhooks_to_private, at_once=1, reads_success=True), SystemClock()
    try:
        async with pool() as opened:
            trial = await try_webhook(WebhookStore(opened, clock, secrets()), poster, clock, partner)
    finally:
        await poster.close()
    return Answer(
        _document(partner, trial), *_trial_lines(partner, trial), exit_code=EXIT_FAILED if not trial.accepted else 0
    )


@app.command("remove")
async def remove(partner: PartnerId) -> Answer:
    """Remove a partner's webhook. Waiting messages are given up."""
    async with actor() as at:
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{partner}", did="remove-webhook")
        await WebhookStore(at.pool, at.clock).remove(partner, also=also)
    return Answer({"partner_id": partner, "removed": True}, f"{partner} has no webhook any more")


@app.command("deliveries")
async def deliveries(partner: PartnerId, limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100) -> Answer:
    """List the messages that wait or were given up, the oldest first, with the result of the last attempt."""
    async with pool() as opened:
        messages = await WebhookStore(opened, SystemClock()).undelivered(partner, limit)
    return Answer(
        [each._asdict() for each in messages], Table.of(f"Not delivered to {partner}", messages, _UNDELIVERED)
    )


@app.command("retry")
async def retry(
    partner: PartnerId,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]…", help="These messages; all that did not arrive otherwise.")
    ] = None,
    enable: Annotated[bool, typer.Option("--enable", help="Use a disabled webhook again.")] = False,
) -> Answer:
    """Send messages that wait or were given up now, and for three days more."""
    async with actor() as at:
        also = at.does(Deed.REPLAY, f"partner:{partner}", did="retry-webhook", ids=ids or None, enable=enable)
        due = await WebhookStore(at.pool, at.clock).retry(partner, ids or [], enable=enable, also=also)
    return Answer({"partner_id": partner, "due": due}, f"{counted(due, 'message')} due now")


def _desk(at: CommandActor) -> WebhookDesk:
    return WebhookDesk(WebhookStore(at.pool, at.clock, secrets()), to_private=settings().webhooks_to_private)


def _document(partner: str, trial: Trial) -> dict[str, Any]:
    receiver, reply = trial.receiver, trial.reply
    return {
        "partner_id": partner,
        "url": receiver.url,
        "message_id": trial.message_id,
        "accepted": trial.accepted,
        "status": reply.status,
        "seconds": round(trial.seconds, 3),
        "answer": reply.begins,
        "error": None if trial.accepted else reply.detail,
        "disabled_why": receiver.disabled_why,
    }


def _trial_lines(partner: str, trial: Trial) -> list[str]:
    receiver, reply = trial.receiver, trial.reply
    outcome = f"answered {reply.status}" if reply.status is not None else f"no answer: {reply.detail}"
    lines = [f"{partner} at {receiver.url}: {outcome}, after {trial.seconds:.2f} s ({trial.message_id})"]
    if reply.begins:
        lines.append(f"it says: {reply.begins}")
    if receiver.disabled_why is not None:
        lines.append(f"the webhook is disabled ({receiver.disabled_why}); `abacus partners webhook retry` enables it")
    return lines


def _lines(webhook: Webhook, counts: UndeliveredCounts) -> list[str]:
    lines = [
        f"{webhook.partner_id} is told at {webhook.url} since {webhook.created_at:%Y-%m-%d %H:%M} UTC",
        f"{counted(counts.waiting, 'message')} waiting, {counts.given_up:,} given up",
    ]
    if webhook.disabled_at is not None:
        lines.append(f"disabled since {webhook.disabled_at:%Y-%m-%d %H:%M} UTC: {webhook.disabled_why}")
    if webhook.former_secret_until is not None and webhook.former_secret_until > SystemClock().now():
        lines.append(f"the former secret signs too until {webhook.former_secret_until:%Y-%m-%d %H:%M} UTC")
    return lines
