"""What a member of the demo has for points: a part of a price, coffees, and a voucher that another house sends.

Each answer becomes a line that a person reads.
"""

import asyncio
from typing import Any, Final
from uuid import UUID

from abacus.cli.demo.catalogue import COFFEE, VOUCHER
from abacus.cli.demo.counter import Counter, asked, told
from abacus.engage.rewards.decide.redemption import Stage

_PRICE: Final = "10.00"
_IN_POINTS: Final = "0.10"
_LOOK_EVERY_S: Final = 0.1


async def pay_in_points(counter: Counter, member: str, mark: str) -> list[str]:
    """What points pay of a dish: asked for, and spent."""
    question = {"member_id": member, "money": _IN_POINTS}
    quote = told(await asked(counter.api, "/v1/point-quotes", question))
    order = {"points": quote["points"], "money": quote["money"], "price": _PRICE, "reason": "A part of a dish"}
    spent = told(await asked(counter.api, f"/v1/members/{member}/spend", order, key=f"{mark}-part"))
    return [
        f"{member} asks what points pay: {quote['points']} points pay {quote['money']} SGD, by card {quote['card']}",
        f"  {-spent['points']} points go for a part of SGD {_PRICE}; {spent['available']} are left",
    ]


async def buy_coffees(counter: Counter, member: str, mark: str) -> list[str]:
    """The member keeps the first, and returns the second."""
    path = _redemptions(member)
    first = await _bought(counter, path, COFFEE, f"{mark}-coffee")
    if "code" not in first:  # in a house where it has bought many
        return [f"{member} asks for a coffee: {first['title']}"]
    second = await _bought(counter, path, COFFEE, f"{mark}-another")
    lines = [f"{member} buys a coffee for {first['points']} points: {first['code']}, {await _left(counter, member)}"]
    if "code" in second:
        told(await asked(counter.api, f"{path}/{second['redemption_id']}/return"))
        lines.append(f"  another one is returned: {await _left(counter, member)}, as before")
    return lines


async def ask_for_a_voucher(counter: Counter, member: str, mark: str) -> UUID:
    """It is paid, and its fulfiller is called. Returns the id of the redemption."""
    answer = await asked(counter.api, _redemptions(member), {"reward": VOUCHER}, key=f"{mark}-voucher")
    return UUID(told(answer)["redemption_id"])


async def look_after_the_voucher(counter: Counter, member: str, redemption: UUID) -> list[str]:
    """Until its fulfiller is late."""
    path = f"{_redemptions(member)}/{redemption}"
    while True:
        found = told(await counter.api.get(path))
        if found["status"] != Stage.SENT:
            return [f"{member} has paid {found['points']} points for a voucher, and its fulfiller is {found['status']}"]
        await asyncio.sleep(_LOOK_EVERY_S)


async def _bought(counter: Counter, path: str, reward: str, key: str) -> dict[str, Any]:
    bought: dict[str, Any] = (await asked(counter.api, path, {"reward": reward}, key=key)).json()
    return bought


async def _left(counter: Counter, member: str) -> str:
    answer = told(await counter.api.get(f"/v1/members/{member}"))
    (account,) = answer["accounts"]
    return f"{account['available']} points are left, good until {account['expires_on']}"


def _redemptions(member: str) -> str:
    return f"/v1/members/{member}/redemptions"
