"""Whether two people are two: who gave the other access a short while ago may well be both. Pure.

What a person gave itself ties it to nobody, and what a login gave ties neither: a login enters the first people of a
house, while there is no admin, and the log has them as that.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from abacus.core.sources import is_person
from abacus.people.types.access import Access, Tie

# The deeds of the log that let somebody act in the other's place, as a sentence has them.
GIVING: Final[Mapping[str, str]] = {
    "create": "entered",
    "roles": "gave roles to",
    "token": "gave a token to",
    "link": "gave a link into the console to",
    "password": "gave a password to",
    "totp": "gave an authenticator to",
    "totp-remove": "took away the authenticator of",
    "rotate-key": "gave a key to",
}

_Way = tuple[Access, ...]


def tie(asked_by: str, by: str, given: Iterable[Access], now: datetime, lasts: timedelta) -> Tie | None:
    """What ties the approver to who asked; None where they are independent."""
    fresh = sorted(
        (each for each in given if each.by != each.to and is_person(each.by) and each.at > now - lasts),
        key=lambda each: each.at,
    )
    found = _common(asked_by, by, fresh)
    if found is None:
        return None
    # Access that is older falls away first: how much of it has to, before nothing ties them?
    until = next(each.at for place, each in enumerate(fresh, 1) if _common(asked_by, by, fresh[place:]) is None) + lasts
    root, ways = found
    return Tie(root, ways, until)


def told(tied: Tie, asked_by: str, by: str, lasts: timedelta) -> str:
    """In words for the approver: why not, from when on, and what to do."""
    reasons = "; ".join(
        f"{each.by} {GIVING.get(each.did, each.did)} {each.to} on {each.at:%Y-%m-%d}" for each in tied.given
    )
    return (
        f"{by} is not independent of {asked_by}: {reasons}. {by} may approve this from"
        f" {tied.until:%Y-%m-%d %H:%M} UTC on; until then it takes an approver to whom {tied.root} gave no access in"
        f" the last {lasts.days} days"
    )


def _common(asked_by: str, by: str, given: Sequence[Access]) -> tuple[str, _Way] | None:
    """The nearest from whom both have their access, which may be one of them, with the ways to both."""
    ways = _ways_up(asked_by, given), _ways_up(by, given)
    shared = [(len(ways[0][each]) + len(ways[1][each]), each) for each in ways[0].keys() & ways[1].keys()]
    if not shared:
        return None
    _, root = min(shared)
    return root, tuple(dict.fromkeys((*ways[1][root], *ways[0][root])))


def _ways_up(source: str, given: Sequence[Access]) -> dict[str, _Way]:
    """All from whom it has its access, itself too, with the way down from each. Nobody hands on what came later."""
    by_receiver: defaultdict[str, list[Access]] = defaultdict(list)
    for each in given:
        by_receiver[each.to].append(each)
    ways: dict[str, _Way] = {source: ()}
    latest: dict[str, datetime] = {}
    below = [source]
    while below:
        receiver = below.pop(0)
        for each in by_receiver[receiver]:
            in_time = receiver not in latest or each.at <= latest[receiver]
            if in_time and (each.by not in ways or latest.get(each.by, each.at) < each.at):
                ways.setdefault(each.by, (each, *ways[receiver]))
                latest[each.by] = each.at
                below.append(each.by)
    return ways
