"""The pages of segments: sets of members, which campaigns ask for."""

from typing import Final

from abacus.console.pages.segments import segment, segment_list
from abacus.console.pages.segments.segment_act import served
from abacus.console.pages.segments.segment_acts import ACTS
from abacus.console.web.routes import page

SERVED: Final = (
    page("/segments", segment_list.segments),
    page("/segments/{segment}", segment.segment),
    *(each for act in ACTS for each in served(act)),
)
