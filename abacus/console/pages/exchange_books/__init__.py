"""The pages of the books with partners: what stands there, months, and where two books differ."""

from typing import Final

from abacus.console.pages.exchange_books import book, breaks, overview
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/exchange-books", overview.books),
    page("/exchange-books/{programme}", book.book),
    form("/exchange-books/{programme}/bill", book.bill, Deed.CLOSE_BOOKS, shows=book.book),
    form("/exchange-books/{programme}/invoice", book.invoice, Deed.CLOSE_BOOKS, shows=book.book),
    form("/exchange-books/{programme}/pay", book.pay, Deed.CLOSE_BOOKS, shows=book.book),
    page("/exchange-breaks/{id:uuid}", breaks.the_break),
    form("/exchange-breaks/{id:uuid}/take", breaks.take, Deed.CLOSE_BOOKS, shows=breaks.the_break),
    form("/exchange-breaks/{id:uuid}/close", breaks.close, Deed.CLOSE_BOOKS, shows=breaks.the_break),
)
