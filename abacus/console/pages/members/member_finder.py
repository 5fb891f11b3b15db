"""Members by the beginning of their id; transfers by their key, their id, or the id of a transaction or an award."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from abacus.console.pages.search.finder import Find, Finder, Found
from abacus.console.web.calls import Call
from abacus.intake.partners.orders import parse_transfer_id
from abacus.intake.partners.register import Register
from abacus.ledger.store.beginnings import AccountFound, TransferFound, accounts_beginning, transfers_beginning
from abacus.people.types.deed import Deed

_ACCOUNTS_EACH: Final = 4  # of a member, as a rule at most


async def _members(call: Call, text: str, most: int) -> Sequence[Found]:
    found = await accounts_beginning(call.reading.pool, text, call.countries(Deed.SEE), most * _ACCOUNTS_EACH)
    accounts: dict[str, list[AccountFound]] = {}
    for each in found:
        accounts.setdefault(each.member_id, []).append(each)
    return [_member(member, of, text) for member, of in accounts.items()][:most]


def _member(member_id: str, accounts: Sequence[AccountFound], text: str) -> Found:
    detail = "; ".join(f"{each.balance:,} {each.program}, {each.country}" for each in accounts)
    return Found("member", member_id, member_id, detail, exact=member_id == text)


async def _transfers(call: Call, text: str, most: int) -> Sequence[Found]:
    if (key := await _key_of(call, text)) is not None:
        found = await transfers_beginning(call.reading.pool, key, call.countries(Deed.SEE), most)
        return [_transfer(each, exact=True) for each in found if each.key == key]
    found = await transfers_beginning(call.reading.pool, text, call.countries(Deed.SEE), most)
    ids = [each.key.partition(":")[2].partition(":")[2] for each in found]
    is_one = ids.count(text) == 1  # the id of a transaction may be that of several sources
    return [
        _transfer(each, exact=each.key == text or (is_one and id_ == text))
        for each, id_ in zip(found, ids, strict=True)
    ]


async def _key_of(call: Call, text: str) -> str | None:
    """The key of a transfer's id, or of an award's."""
    if (place := parse_transfer_id(text)) is not None:
        transfer = await call.reading.ledger.at(*place)
        return transfer.key if transfer is not None else None
    try:
        award_id = UUID(text)
    except ValueError:
        return None
    states = await Register(call.premises.pool, call.premises.clock).states([award_id])
    return states[award_id].award.key if award_id in states else None


def _transfer(found: TransferFound, *, exact: bool) -> Found:
    detail = f"{found.points:+,} {found.program} for {found.member_id}, {found.country}, {found.posted_at:%Y-%m-%d}"
    return Found("transfer", found.key, found.key, detail, exact=exact)


def _trimmed(find: Find) -> Find:
    """Nothing is looked up for what no id can be."""

    async def found(call: Call, text: str, most: int) -> Sequence[Found]:
        return await find(call, text, most) if text.isprintable() else ()

    return found


MEMBERS: Final = Finder("Members", _trimmed(_members))
TRANSFERS: Final = Finder("Transactions and transfers", _trimmed(_transfers))
