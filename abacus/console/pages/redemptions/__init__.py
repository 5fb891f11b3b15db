"""The pages of what members took: of an offer, of a reward, and one by its id."""

from typing import Final

from abacus.console.pages.redemptions import redemption, taken_list
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/offers/{name}/redemptions", taken_list.of_offer),
    page("/rewards/{name}/redemptions", taken_list.of_reward),
    page("/redemptions/{id:uuid}", redemption.redemption),
    form("/redemptions/{id:uuid}/back", redemption.bring_back, Deed.MOVE_POINTS, shows=redemption.redemption),
)
