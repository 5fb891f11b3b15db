"""How messages to members are put together, and what the settings say of them."""

import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.errors import Refused
from abacus.engage.notify.channels.log import LogChannel
from abacus.engage.notify.channels.port import Channel
from abacus.engage.notify.channels.sns import SnsChannel, sns_client
from abacus.engage.notify.channels.webhook import WebhookChannel
from abacus.engage.notify.decide.contact import Stopped
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.pace import Rates, read_rates
from abacus.engage.notify.gatherer import Gatherer
from abacus.engage.notify.kind import ContactDirectory
from abacus.engage.notify.listener import Listener
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.notifications import Notifications
from abacus.engage.notify.outbox import NotificationOutbox
from abacus.engage.notify.renderer import rendering
from abacus.engage.notify.sender import CONCURRENCY, notification_sender
from abacus.engage.notify.status import POINTS, TIERS
from abacus.engage.notify.templates import Templates, load_templates
from abacus.platform.delivery.decide.addresses import checked_url
from abacus.platform.delivery.deliverer import IDLE_S
from abacus.platform.delivery.post import Poster
from abacus.platform.following.together import together
from abacus.platform.health import WorkerHealth, sub_workers_of
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.settings import PREFIX, Required, Settings
from abacus.platform.wiring import Run, Wiring

_CONNECTIONS: Final = 6
_NEEDED: Final[dict[ChannelName, tuple[Required, ...]]] = {
    ChannelName.LOG: (),
    ChannelName.SNS: ("sns_topic_arn",),
    ChannelName.WEBHOOK: ("notify_webhook_url", "notify_webhook_secret"),
}


class NotifierPlan(NamedTuple):
    """The checked settings of the notifier."""

    channels: tuple[ChannelName, ...]
    rates: Rates
    templates: Templates


def plan_of(settings: Settings) -> NotifierPlan:
    """Raises `Refused` with one line that names the setting, or the template."""
    channels = tuple(dict.fromkeys(ChannelName(name.strip()) for name in settings.notify_channels.split(",")))
    for channel in channels:
        for needed in _NEEDED[channel]:
            if getattr(settings, needed) is None:
                raise Refused(f"{PREFIX}{needed.upper()} is not set, and {PREFIX}NOTIFY_CHANNELS names {channel}")
    if ChannelName.WEBHOOK in channels:
        with _naming("notify_webhook_url"):
            checked_url(settings.required("notify_webhook_url"), to_private=settings.webhooks_to_private)
    with _naming("notify_rates"):
        rates = read_rates(settings.notify_rates)
    return NotifierPlan(channels, rates, templates_of(settings))


def templates_of(settings: Settings) -> Templates:
    """Raises `Refused` with one line that names the template."""
    with _naming("templates_dir"):
        return load_templates(settings.templates_dir)


@contextmanager
def _naming(setting: str) -> Iterator[None]:
    try:
        yield
    except Refused as error:
        raise Refused(f"{PREFIX}{setting.upper()}: {error}") from None


def contact_in_use(wiring: Wiring, pool: Pool) -> ContactDirectory:
    """The policy of contact of each country."""
    contact = ContactDirectory(pool)
    return wiring.keep(contact, on=contact.tables)


async def notifier(wiring: Wiring, stopped_of: Callable[[Wiring, Pool], Awaitable[Stopped]]) -> Run:
    """`stopped_of` makes what tells which news is not told any more."""
    settings, clock = wiring.settings, wiring.clock
    plan = plan_of(settings)
    pool = await wiring.pool(size=_CONNECTIONS)
    slice_map = await wiring.slice_map(pool)
    numbers, idle_s = range(slice_map.slices), slice_map.pause_s(IDLE_S)
    of_points, of_tiers, *others = sub_workers_of(wiring.health, 2 + len(numbers) + len(plan.channels))
    gathering, sending = others[: len(numbers)], others[len(numbers) :]
    notices = Notices(pool, clock)
    gathered_for = timedelta(seconds=settings.notify_gather_seconds)
    keep = timedelta(days=settings.notify_keep_days)
    notifications = Notifications(pool)
    contact = contact_in_use(wiring, pool)
    await until_available(contact.refresh, wiring.health)
    stopped = await stopped_of(wiring, pool)
    gatherers = [
        Gatherer(
            number,
            notices,
            notifications,
            plan.channels,
            policies=contact.value,
            stopped=stopped,
            clock=clock,
            health=health,
            keep=keep,
            idle_s=idle_s,
        )
        for number, health in zip(numbers, gathering, strict=True)
    ]
    channels = {name: await _channel(name, wiring) for name in plan.channels}
    renderer = await wiring.entered(rendering())
    senders = [
        notification_sender(
            channels[name],
            plan.templates,
            renderer,
            NotificationOutbox(pool, clock, name, Pace(plan.rates[name], ZoneInfo(settings.notify_timezone))),
            clock=clock,
            health=health,
            park_after=timedelta(hours=settings.notify_park_hours),
            stopped=stopped,
            rng=random.Random(),
            idle_s=idle_s,
        )
        for name, health in zip(plan.channels, sending, strict=True)
    ]

    def listening(topic: str, group: str, health: WorkerHealth) -> Run:
        listener = Listener(pool, notices, clock, health, gathered_for=gathered_for)
        return wiring.following(topic, group, listener.handle, health)

    # Two groups: readers of one group would share out both topics, and stop each other at each change.
    return together(
        listening(settings.points_topic, POINTS.group, of_points),
        listening(settings.tiers_topic, TIERS.group, of_tiers),
        *(gatherer.run for gatherer in gatherers),
        *(sender.run for sender in senders),
    )


async def _channel(name: ChannelName, wiring: Wiring) -> Channel:
    settings = wiring.settings
    match name:
        case ChannelName.LOG:
            return LogChannel()
        case ChannelName.SNS:
            arn = settings.required("sns_topic_arn")
            return SnsChannel(await wiring.entered(sns_client(settings.sns_endpoint_url, arn)), arn)
        case ChannelName.WEBHOOK:
            poster = Poster(to_private=settings.webhooks_to_private, at_once=CONCURRENCY.at_once)
            wiring.at_the_end(poster.close)
            url, secret = settings.required("notify_webhook_url"), settings.required("notify_webhook_secret")
            return WebhookChannel(poster, url, secret, wiring.clock)
