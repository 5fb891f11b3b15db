"""The pages of journeys."""

from typing import Final

from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.pages.journeys import (
    journey,
    journey_draft,
    journey_enter,
    journey_migrate,
    journey_report,
    journey_where,
)
from abacus.console.pages.journeys.journey_pages import PAGES
from abacus.console.web.routes import form, page, stream
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/journeys", PAGES.listed),
    page("/journeys/{name}", journey.journey),
    stream("/journeys/{name}/live", journey.live),
    page("/journeys/{name}/report", journey_report.report),
    page("/journeys/{name}/where", journey_where.where),
    page("/journeys/{name}/enter", journey_enter.enter, Deed.MOVE_POINTS),
    form("/journeys/{name}/enter", journey_enter.let_in, Deed.MOVE_POINTS),
    page("/journeys/{name}/migrate", journey_migrate.migrate, Deed.EDIT_JOURNEYS),
    form("/journeys/{name}/migrate", journey_migrate.act, Deed.EDIT_JOURNEYS, shows=journey_migrate.migrate),
    form("/journeys/{name}/move", PAGES.move, Deed.EDIT_JOURNEYS, shows=journey.journey),
    *draft_pages(journey_draft.JOURNEY_DRAFTS),
)
