"""Which of the messages that contradict each other about an event is the event, for all campaigns: the first."""

from collections.abc import Sequence

from abacus.engage.campaigns.decide.same_event import contradictions
from abacus.engage.campaigns.evaluator import Candidate
from abacus.platform.key_register import holders_of
from abacus.platform.postgres import Pool
from abacus.platform.slices import slice_map_of
from abacus.signals.events.types import Event


async def without_contradictions(
    pool: Pool, events: Sequence[Event], candidates: Sequence[Candidate]
) -> Sequence[Candidate]:
    """The candidates whose event is the first with its key among these events, which are in the order in which they
    came. In slices the first event in the slice of a claim goes before, where one was entered. Raises `Unavailable`.
    """
    several = contradictions(events)
    if not several:
        return candidates
    slice_map = await slice_map_of(pool)
    claims = {each.key: each.event.key for each in candidates if each.event.key in several}
    holders = {claims[claim]: number for claim, number in (await holders_of(pool, claims)).items()}
    firsts = {
        key: next((each for each in some if slice_map.slice_of(each.member_id or "") == holders.get(key)), some[0])
        for key, some in several.items()
    }
    return [each for each in candidates if each.event == firsts.get(each.event.key, each.event)]
