"""What is wrong, as people are told it: since when, what it means for points, and where to begin. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.status import Cause, Problem

_SAID_FOR: Final = timedelta(hours=1)  # that it is over
_WAITS: Final = "Nothing is lost: it waits, and goes on when this is back."
_WORKERS: Final[Mapping[str, str]] = {
    "calculator": "Transactions get no points meanwhile. They wait in Kafka, and none is lost.",
    "retrier": "Transactions that are tried again wait meanwhile. None is lost.",
    "awarder": "Points are decided and not booked: members do not see them yet. None is lost: they wait.",
    "expirer": "Points do not lapse meanwhile; members keep them until this is back.",
    "relay": "Points are booked, and other systems do not hear of them yet: tiers, messages and campaigns wait.",
    "tierkeeper": "Tiers do not rise meanwhile. Points are booked as ever.",
    "notifier": "Members get no messages meanwhile. Points are booked as ever.",
    "campaigner": "Campaigns do nothing meanwhile; their events wait. Points for transactions are booked as ever.",
    "journeyer": "Members stand still in journeys; what falls due meanwhile waits. Points are booked as ever.",
    "exchanger": "Points that members exchange stay held, and partners wait. Other points are booked as ever.",
    "positions": "Nobody enters or leaves regions meanwhile. Points are booked as ever.",
    "counter": "Counters stand still, and campaigns that need them wait.",
    "counts": "Counters stand still, and campaigns that need them wait.",
    "offers": "Shops are told of no offers. Points are booked as ever.",
    "webhooks": "Partners hear of nothing meanwhile; their messages wait.",
    "api": "Partners and apps get no answer.",
}


class _Words(NamedTuple):
    """Of a cause, with `{about}` in them: what is wrong, what it means, and the page where to begin."""

    what: str
    means: str
    place: str = ""
    there: str = ""


_WORDS: Final[Mapping[Cause, _Words]] = {
    Cause.WORKER_AWAY: _Words("The {about} does not run", _WAITS),
    Cause.WORKER_STOPPED: _Words("The {about} has stopped", _WAITS),
    Cause.WORKER_WAITING: _Words("The {about} waits", _WAITS),
    Cause.WITHOUT: _Words("The {about} does not answer", "Workers go on without it, and use it again when it is back."),
    Cause.CARDS_OLD: _Words(
        "Rate cards are not read anew", "Points are still calculated, by the cards that were in force then."
    ),
    Cause.LAG: _Words("The {about} is behind", "Points come late, and none is lost."),
    Cause.DEAD_LETTERS: _Words(
        "Messages of the {about} queue were given up",
        "They do nothing until somebody sends them back. Points that are booked are not booked twice.",
        "/dead-letters",
        "Look at them, and send them back",
    ),
    Cause.QUEUE_OLD: _Words("The {about} queue does not move", "Points come late, and none is lost."),
    Cause.UNPUBLISHED: _Words("Booked points are not told to others", _WORKERS["relay"]),
    Cause.QUARANTINE: _Words(
        "Messages are set aside: {about}",
        "They earn nothing until they are mended and replayed.",
        "/quarantine?reason={about}",
        "See what they have in common",
    ),
    Cause.UNDELIVERED: _Words(
        "Messages to the outside are not delivered: {about}", "Points are booked as ever.", "/partners", "See partners"
    ),
    Cause.NEEDS_SOMEBODY: _Words(
        "The {about} need somebody", "Points that are booked stay as they are.", "/{about}", "See the {about}"
    ),
    Cause.DISK: _Words(
        "The disk of the {about} will soon be full", "When it is, nothing is booked until there is room."
    ),
    Cause.OVERDUE: _Words("Overdue: {about}", "Points stay as they are until it has run.", "/tasks", "See tasks"),
}


@dataclass(frozen=True)
class Alarm:
    """One thing that is wrong, or was until `over_at`. `details` are the faults one by one; `commands` come second."""

    cause: str
    about: str
    what: str
    means: str
    since: datetime | None
    place: str
    there: str
    details: Sequence[str]
    commands: Sequence[str]
    over_at: datetime | None = None


def alarms_of(problems: Iterable[Problem]) -> list[Alarm]:
    """Faults of one cause about one thing are one alarm, however many countries or processes have them."""
    found: dict[tuple[Cause, str], list[Problem]] = {}
    for each in problems:
        found.setdefault((each.cause, each.about), []).append(each)
    return [
        alarm_of(
            cause,
            about,
            [each.fault for each in of],
            list(dict.fromkeys(each.remedy for each in of)),
            since=min((each.since for each in of if each.since is not None), default=None),
        )
        for (cause, about), of in found.items()
    ]


def alarm_of(
    cause: Cause,
    about: str,
    details: Sequence[str],
    commands: Sequence[str],
    *,
    since: datetime | None,
    over_at: datetime | None = None,
) -> Alarm:
    """The alarm in words."""
    words = _WORDS[cause]
    of_worker = cause in {Cause.WORKER_AWAY, Cause.WORKER_STOPPED, Cause.WORKER_WAITING}
    return Alarm(
        cause=cause,
        about=about,
        what=words.what.format(about=about),
        means=_WORKERS.get(about, words.means) if of_worker else words.means,
        since=since,
        place=words.place.format(about=about),
        there=words.there,
        details=details,
        commands=commands,
        over_at=over_at,
    )


def followed(
    known: Sequence[Alarm], now_wrong: Sequence[Alarm], unread: AbstractSet[str], now: datetime
) -> list[Alarm]:
    """The alarms that stand, and then the alarms that ended, each for an hour. An alarm whose cause could not be read
    does not end.
    """
    before = {(each.cause, each.about): each for each in known}
    standing = []
    for each in now_wrong:
        last = before.pop((each.cause, each.about), None)
        since = each.since or (last.since if last is not None and last.over_at is None else None) or now
        standing.append(replace(each, since=since))
    gone = [
        each if each.over_at is not None or each.cause in unread else replace(each, over_at=now)
        for each in before.values()
    ]
    return [*standing, *(each for each in gone if each.over_at is None or now - each.over_at < _SAID_FOR)]


def changes_of(known: Sequence[Alarm], after: Sequence[Alarm]) -> tuple[Sequence[Alarm], Sequence[Alarm]]:
    """The alarms that rose, ended or came back, and the alarms of which nothing is said any more."""
    before = {(each.cause, each.about): each.over_at for each in known}
    kept = {(each.cause, each.about) for each in after}
    never = object()
    changed = [each for each in after if before.get((each.cause, each.about), never) != each.over_at]
    return changed, [each for each in known if (each.cause, each.about) not in kept]
