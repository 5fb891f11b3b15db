"""The pages of the books: reports, a month's close, and the proof of the ledger."""

from typing import Final

from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.pages.finance import accounts, assumptions, month_acts, month_close, reports, trust
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/finance", reports.finance, everywhere=True),
    page("/finance/reports/{report}", reports.report, everywhere=True),
    form("/finance/reports/{report}", reports.calculate, everywhere=True, shows=reports.report),
    page("/finance/assumptions", assumptions.assumptions, everywhere=True),
    page(assumptions.DRAFT, assumptions.draft, Deed.SET_ASSUMPTIONS, everywhere=True),
    form(assumptions.DRAFT, assumptions.ask, Deed.SET_ASSUMPTIONS, everywhere=True),
    page("/finance/accounts", accounts.accounts, everywhere=True),
    *draft_pages(accounts.ACCOUNTS_DRAFTS),
    form("/finance/close", month_acts.go_to, everywhere=True),
    page("/finance/close/{month}", month_close.close, everywhere=True),
    form("/finance/close/{month}/months", month_acts.draw, everywhere=True),
    form("/finance/close/{month}/expire", month_acts.expire, Deed.EXPIRE, everywhere=True),
    form("/finance/close/{month}/seal", month_acts.seal, Deed.SEAL, everywhere=True),
    form("/finance/close/{month}/account", month_acts.account, Deed.CLOSE_BOOKS, everywhere=True),
    form("/finance/close/{month}/check", month_acts.check, Deed.CLOSE_BOOKS, everywhere=True, shows=month_close.close),
    form("/finance/close/{month}/sign", month_acts.sign, Deed.CLOSE_BOOKS, everywhere=True, shows=month_close.close),
    form(
        "/finance/close/{month}/reopen", month_acts.reopen, Deed.CLOSE_BOOKS, everywhere=True, shows=month_close.close
    ),
    page("/trust", trust.trust, everywhere=True),
    form("/trust/verify", trust.verify, everywhere=True),
    form("/trust/seal", trust.seal, Deed.SEAL, everywhere=True),
    form("/trust/reconcile", trust.reconcile, everywhere=True, shows=trust.trust),
    form("/trust/prove", trust.prove, everywhere=True, shows=trust.trust),
)
