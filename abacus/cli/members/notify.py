"""`abacus notify`: notifications of members, failed ones, and the daily job for points that will expire."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from abacus.cli.terminal.answer import Answer, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.progress import spinner
from abacus.cli.terminal.shell import CommandGroup, pool, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage, preview
from abacus.engage.notify.decide.news import SAMPLES, NewsKind
from abacus.engage.notify.decide.template import DEFAULT_LOCALE
from abacus.engage.notify.expiry_notices import ExpiryReminders, ReminderRun
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.parked import ParkedMessage, ParkedMessages
from abacus.engage.notify.templates import words_of
from abacus.engage.notify.wiring import templates_of
from abacus.people.types.deed import Deed
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore

app = CommandGroup(help="Notifications of members.", no_args_is_help=True)

_WHEN = datetime(2026, 7, 1, tzinfo=UTC)

ChannelOption = Annotated[ChannelName | None, typer.Option(help="Only this channel's.")]


@app.command("preview")
async def preview_event(
    event: Annotated[NewsKind, typer.Argument(help="The kind of event.")],
    locale: Annotated[str, typer.Option(help="The language, for example id.")] = DEFAULT_LOCALE,
    channel: Annotated[ChannelName, typer.Option(help="As this channel carries it.")] = ChannelName.LOG,
) -> Answer:
    """Show the message that a member would get, with made-up figures; a locale without templates gets English."""
    sample = SAMPLES[event][0]
    words = words_of(templates_of(settings()), [sample], locale)
    outgoing = OutgoingMessage("bob", "ntf_0123456789abcdef", locale, words, [sample], _WHEN)
    shown = {"event": event, "locale": locale, "channel": channel, **words._asdict()}
    return Answer({**shown, "carried": preview(channel, outgoing)}, preview(channel, outgoing))


@app.command("expiring")
async def expiring(country: Annotated[str | None, typer.Option(help="Only there, for example SG.")] = None) -> Answer:
    """Tell members of points that will expire, 30 and 7 days ahead. Run it once a day; a second run tells nobody
    twice, and a run that was cut off goes on.
    """
    gathered_for = timedelta(seconds=settings().notify_gather_seconds)
    async with actor() as at:
        await at.begins(Deed.RUN_JOBS, "job:notify-expiring", country=country)
        book = CardBook(await CardStore(at.pool).all())
        with spinner() as progress:
            task = progress.add_task("points that will expire")

            def show(done: ReminderRun) -> None:
                progress.update(
                    task, description=f"{done.country}: {done.accounts:,} accounts, {done.entered:,} new notices"
                )

            job = ExpiryReminders(at.pool, Notices(at.pool, at.clock), at.clock, gathered_for=gathered_for)
            done = await job.run(book, country, on_progress=show)
    rows = [[each.country, str(each.today), each.accounts, each.entered] for each in done]
    return Answer(
        [each._asdict() for each in done],
        Table("Points that will expire", ["country", "today", "accounts", "new notices"], rows),
    )


@app.command("parked")
async def parked(
    channel: ChannelOption = None, limit: Annotated[int, typer.Option(min=1, max=100_000)] = 100
) -> Answer:
    """List the messages that did not reach their channel in time, the oldest first, with the reason."""
    async with pool() as opened:
        messages = await ParkedMessages(opened, SystemClock()).list(channel, limit)
    columns = ["message", "channel", "member", "since", "tries", "reason"]
    return Answer([each._asdict() for each in messages], Table("Parked", columns, [_row(each) for each in messages]))


@app.command("resend")
async def resend(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]…", help="These messages.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every parked message, or every one of --channel.")] = False,
    channel: ChannelOption = None,
) -> Answer:
    """Send parked messages now, under their ids, with all their time again."""
    if bool(ids) == every:
        raise Refused("say which: ids of parked messages, or --all")
    async with actor() as at:
        also = at.does(Deed.REPLAY, "notifications", ids=ids or None, channel=channel)
        due = await ParkedMessages(at.pool, at.clock).resend(ids or [], channel, also=also)
    return Answer({"due": due}, f"{counted(due, 'message')} due now")


def _row(each: ParkedMessage) -> list[object]:
    since = f"{each.parked_at:%Y-%m-%d %H:%M}"
    return [each.message_id, each.channel, each.member_id, since, str(each.attempts), each.reason]
