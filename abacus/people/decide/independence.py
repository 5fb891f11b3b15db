"""Whether an approver is somebody else than the author: a person that gave another access may act as both. Pure.

What a person gave itself ties it to nobody, and what a login gave ties neither: a login enters the first people of a
house, while there is no admin, and the log has them as that.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from abacus.core.sources import is_person
from abacus.people.types.person import Access, Tie

# The deeds of the log that let somebody act in the other's place, as a sentence has them.
GIVING: Final[Mapping[str, str]] = {
    "create": "entered",
    "roles": "gave roles to",
    "token": "gave a token to",
    "link": "gave a link into the console to",
    "password": "gave a password to",
    "totp": "gave an authenticator to",
    "totp-remove": "took away the authenticator of",
}

_Way = tuple[Access, ...]


def tie(asked_by: str, by: str, given: Iterable[Access], now: datetime, lasts: timedelta) -> Tie | None:
    """How the approver has its access from the asker, directly or through others; None where it has not."""
    fresh = _fresh(given, now, lasts)
    way = _way(asked_by, by, fresh)
    if way is None:
        return None
    # Access that is older falls away first: how much of it has to, before nothing ties them?
    until = next(each.at for place, each in enumerate(fresh, 1) if _way(asked_by, by, fresh[place:]) is None) + lasts
    return Tie(way, until)


def tied_to(by: str, given: Iterable[Access], now: datetime, lasts: timedelta) -> frozenset[str]:
    """Everybody to whom there is a `tie`."""
    return frozenset(giver for giver, way in _ways(by, _fresh(given, now, lasts)).items() if way)


def told(tied: Tie, asked_by: str, by: str, lasts: timedelta) -> str:
    """In words for the approver: why not, from when on, and what to do."""
    reasons = "; ".join(
        f"{each.by} {GIVING.get(each.did, each.did)} {each.to} on {each.at:%Y-%m-%d}" for each in tied.given
    )
    return (
        f"{by} is not independent of {asked_by}: {reasons}. {by} may approve this from"
        f" {tied.until:%Y-%m-%d %H:%M} UTC on; until then it takes an approver to whom {asked_by} gave no access in"
        f" the last {lasts.days} days"
    )


def _fresh(given: Iterable[Access], now: datetime, lasts: timedelta) -> Sequence[Access]:
    """The access that ties people, in the order of time."""
    counts = (each for each in given if each.by != each.to and is_person(each.by) and each.at > now - lasts)
    return sorted(counts, key=lambda each: each.at)


def _way(giver: str, receiver: str, given: Sequence[Access]) -> _Way | None:
    return _ways(receiver, given).get(giver) or None


def _ways(receiver: str, given: Sequence[Access]) -> Mapping[str, _Way]:
    """The shortest way of access to the receiver from each giver. Nobody hands on what came later."""
    by_receiver: defaultdict[str, list[Access]] = defaultdict(list)
    for each in given:
        by_receiver[each.to].append(each)
    ways: dict[str, _Way] = {receiver: ()}
    latest: dict[str, datetime] = {}
    below = [receiver]
    while below:
        at = below.pop(0)
        for each in by_receiver[at]:
            in_time = at not in latest or each.at <= latest[at]
            if in_time and (each.by not in ways or latest.get(each.by, each.at) < each.at):
                ways.setdefault(each.by, (each, *ways[at]))
                latest[each.by] = each.at
                below.append(each.by)
    return ways
