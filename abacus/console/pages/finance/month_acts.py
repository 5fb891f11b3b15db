"""What the buttons of a month do: each asks for a command of the command line, which runs as a task of the person."""

from abacus.console.decide.month_orders import CHECK, RECONCILE, SIGN, messages_order, review_order, signature_order
from abacus.console.decide.reports import MONTHS
from abacus.console.errands.types import Order, State
from abacus.console.pages.finance.month_close import DUE, EXPIRY, month_of, window_of
from abacus.console.pages.finance.trust import seal_order
from abacus.console.pages.operations.errands import ask, newest
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import Form
from abacus.console.web.page import See
from abacus.core.errors import Refused
from abacus.oversight.closing.decide.obstacles import ACCEPTABLE
from abacus.programs.expiry.decide.month import Month


async def go_to(call: Call) -> See:
    """From the field of a month to its page."""
    try:
        month = Month.parse(call.form.get("month"))
    except Refused:
        raise PageFault("not-found", "Choose a month, such as 2026-07.") from None
    return See(f"/finance/close/{month}")


async def expire(call: Call) -> See:
    """Runs every month's end that is due, and stays until the expirer is through."""
    order = Order(EXPIRY, DUE, None, ("expiry", "run", "--due", "--wait", "--json"))
    return await ask(call, order, f"/finance/close/{month_of(call)}#expiry")


async def seal(call: Call) -> See:
    return await ask(call, seal_order(), f"/finance/close/{month_of(call)}#seal")


async def account(call: Call) -> See:
    """Accounts for every message of the month, by the clocks of all countries."""
    month = month_of(call)
    begin, end = window_of(call, month)
    return await ask(call, messages_order(month, begin, end), f"/finance/close/{month}#messages")


async def check(call: Call) -> See:
    month, typed = month_of(call), call.form.shown()
    if _accepted(typed) and not typed.get("reason"):
        raise call.wrong(reason="Say why it is accepted; auditors read it.")
    return await ask(call, await _check_order(call, month, typed), f"/finance/close/{month}#review")


async def sign(call: Call) -> See:
    """As the last check was asked for, if nothing else stood in the way."""
    month = month_of(call)
    checked = await newest(call, CHECK, str(month))
    if checked is None or checked.document is None or not checked.document["may_be_signed"]:
        raise call.wrong(sign="Something stands in the way: mend or accept it, and review again.")
    return await ask(call, signature_order(month, checked.errand), f"/finance/close/{month}#signature")


async def draw(call: Call) -> See:
    """The months up to this one, beside each other."""
    month = str(month_of(call))
    today = call.now.date()
    order = Order(MONTHS.task, month, None, MONTHS.arguments(month, today), keeps=(MONTHS.file(month, today),))
    return await ask(call, order, f"/finance/close/{month}#months")


async def reopen(call: Call) -> See:
    month, reason = month_of(call), call.form.get("reason")
    if not reason:
        raise call.wrong(reason="Say why; auditors read it.")
    arguments = ("report", "close", f"--month={month}", "--reopen", f"--reason={reason}", "--json")
    return await ask(call, Order(SIGN, str(month), None, arguments), f"/finance/close/{month}#signature")


async def _check_order(call: Call, month: Month, typed: Form) -> Order:
    accounted = await newest(call, RECONCILE, str(month))
    account = accounted.document if accounted is not None and accounted.errand.state is State.DONE else None
    return review_order(month, account, _accepted(typed), typed.get("reason"))


def _accepted(typed: Form) -> list[str]:
    return [each for each in typed.get("accept[]").split("\n") if each in ACCEPTABLE]
