"""The pages of rewards."""

from typing import Final

from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.pages.rewards import reward, reward_draft, reward_preview
from abacus.console.pages.rewards.reward_pages import PAGES
from abacus.console.pages.rewards.reward_report import REPORT
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/rewards", PAGES.listed),
    page(REPORT.path, REPORT.page),
    page("/rewards/{name}", reward.reward),
    page("/rewards/{name}/preview", reward_preview.of_one),
    form("/rewards/{name}/move", PAGES.move, Deed.EDIT_REWARDS, shows=reward.reward),
    *draft_pages(reward_draft.REWARD_DRAFTS),
)
