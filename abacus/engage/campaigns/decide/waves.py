"""The order in which events of a batch are decided: one that asks what its member has had of a campaign waits for those
of the member before it. Pure.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Wanting(NamedTuple):
    """An event's place among those of the batch, its member, and the campaign that wants to know what went before;
    None for one that does not.
    """

    event: int
    member_id: str
    campaign: str | None


def waves(wanting: Sequence[Wanting]) -> list[int]:
    """The number of the wave in which each is decided, from 0 on. All of an event are in one wave, and no event of a
    member is in an earlier one than the events before it.
    """
    now: dict[str, int] = {}  # by member
    taken: dict[str, set[str]] = {}  # the campaigns of the member's present wave
    numbers: list[int] = []
    place = 0
    while place < len(wanting):
        member_id = wanting[place].member_id
        end = place
        while end < len(wanting) and wanting[end].event == wanting[place].event:
            end += 1
        campaigns = {each.campaign for each in wanting[place:end] if each.campaign is not None}
        if campaigns & taken.get(member_id, set()):
            now[member_id] = now.get(member_id, 0) + 1
            taken[member_id] = set()
        taken.setdefault(member_id, set()).update(campaigns)
        numbers += [now.get(member_id, 0)] * (end - place)
        place = end
    return numbers
