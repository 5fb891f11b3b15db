"""Why an offer is refused. Pure."""

from enum import StrEnum


class Reason(StrEnum):
    """The condition that failed."""

    PRICE = "price"
    QUANTITY = "quantity"
    BASKET = "basket"
    TIER = "tier"
    SCOPE = "scope"  # it is not for the item
    ADMISSION = "admission"  # by invitation or by code
    CODE_USED = "code-used"  # the single code is taken
    SPENT = "spent"  # the budget is gone
    USED = "used"  # the member's limit is reached
    TIME = "time"
    SEGMENT = "segment"
    RULE = "rule"
    NOTHING = "nothing"  # it saves nothing
