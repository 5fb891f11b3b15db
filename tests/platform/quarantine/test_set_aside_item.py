"""A body that is set aside twice is one item; one that differs in anything that identifies it is another."""

import pytest

from abacus.core.errors import Reason, SetAside
from abacus.platform.quarantine.types import Item, Stage

FAULT = SetAside(Reason.UNKNOWN_VERTICAL, "vertical 'yachts' is not on the card of SG")
ITEM = Item.of(Stage.TRANSACTION, "kafka:transactions/0/17", b'{"vertical":"yachts"}', FAULT)


def test_an_item_is_kept_whole_with_its_reason() -> None:
    assert (ITEM.stage, ITEM.origin, ITEM.body) == (
        Stage.TRANSACTION,
        "kafka:transactions/0/17",
        b'{"vertical":"yachts"}',
    )
    assert (ITEM.reason, ITEM.detail) == (FAULT.reason, FAULT.detail)
    assert (ITEM.key, ITEM.fingerprint, ITEM.posted_fingerprint) == (None, None, None)


@pytest.mark.parametrize(
    ("item", "same"),
    [
        (Item.of(ITEM.stage, ITEM.origin, ITEM.body, FAULT), True),
        (Item.of(ITEM.stage, ITEM.origin, ITEM.body, SetAside(Reason.INVALID, "under another version")), True),
        (Item.of(Stage.AWARD, ITEM.origin, ITEM.body, FAULT), False),
        (Item.of(ITEM.stage, "kafka:transactions/0/18", ITEM.body, FAULT), False),
        (Item.of(ITEM.stage, ITEM.origin, ITEM.body + b" ", FAULT), False),
    ],
    ids=["again", "for another reason", "elsewhere on the way", "from another place", "another body"],
)
def test_identity(item: Item, same: bool) -> None:  # noqa: FBT001  # the expected outcome of a row
    assert (item.id == ITEM.id) is same
