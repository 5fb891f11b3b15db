"""The pages of exchanges with partners."""

from typing import Final

from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.pages.exchanges import exchange, exchange_list, links, programme
from abacus.console.pages.exchanges.programme_draft import PROGRAMME_DRAFTS
from abacus.console.pages.exchanges.programme_pages import PAGES
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/exchanges", exchange_list.exchanges),
    page("/exchanges/{id:uuid}", exchange.exchange),
    form("/exchanges/{id:uuid}/cancel", exchange.cancel, Deed.MOVE_POINTS, shows=exchange.exchange),
    form("/exchanges/{id:uuid}/reverse", exchange.reverse, Deed.MOVE_POINTS, shows=exchange.exchange),
    form("/exchanges/{id:uuid}/settle", exchange.settle, Deed.MOVE_POINTS, shows=exchange.exchange),
    page("/exchange-programmes", PAGES.listed),
    page("/exchange-programmes/{name}", programme.programme),
    form("/exchange-programmes/{name}/move", PAGES.move, Deed.EDIT_EXCHANGES, shows=programme.programme),
    page("/exchange-links/{id:uuid}", links.link),
    form("/exchange-links/{id:uuid}/end", links.end, Deed.MOVE_POINTS, shows=links.link),
    *draft_pages(PROGRAMME_DRAFTS),
)
