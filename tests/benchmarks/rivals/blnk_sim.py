"""What the harness asks of a Blnk server, answered as its API documents it."""

from collections import Counter
from typing import Any, Final

from aiohttp import web

_PAGE: Final = 100  # asked for more, it gives 20
_FEW: Final = 20


class BlnkSim:
    """Keeps transactions in memory, by their references."""

    def __init__(self) -> None:
        self.app = web.Application()
        self.app.router.add_post("/transactions/bulk", self._bulk)
        self.app.router.add_post("/transactions", self._one)
        self.app.router.add_post("/transactions/filter", self._transactions)
        self.app.router.add_post("/balances/filter", self._balances)
        self._known: dict[str, Any] = {}

    async def _bulk(self, request: web.Request) -> web.Response:
        """It ends at the first that is known; those before it stay."""
        body = await request.json()
        for each in body["transactions"]:
            if each["reference"] in self._known:
                return web.json_response({"error": f"reference {each['reference']} has already been used"}, status=400)
            self._known[each["reference"]] = each
        answer = {"batch_id": "bulk_1", "status": "applied", "transaction_count": len(body["transactions"])}
        return web.json_response(answer, status=201)

    async def _one(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body["reference"] in self._known:
            return web.json_response({"error_detail": {"code": "TXN_DUPLICATE_REFERENCE"}}, status=409)
        self._known[body["reference"]] = body
        return web.json_response(body | {"status": "APPLIED"}, status=201)

    async def _transactions(self, request: web.Request) -> web.Response:
        asked = await request.json()
        return _page(asked, [each for each in self._known.values() if _is_of(asked, each)])

    async def _balances(self, request: web.Request) -> web.Response:
        asked = await request.json()
        balances: Counter[str] = Counter()
        for each in filter(lambda each: _is_of(asked, each), self._known.values()):
            balances[each["source"]] -= each["precise_amount"]
            balances[each["destination"]] += each["precise_amount"]
        return _page(asked, [{"indicator": name, "balance": balance} for name, balance in balances.items()])


def _is_of(asked: Any, transaction: Any) -> bool:
    (condition,) = asked["filters"]
    assert (condition["field"], condition["operator"]) == ("currency", "eq")
    return bool(transaction["currency"] == condition["value"])


def _page(asked: Any, rows: list[Any]) -> web.Response:
    limit = asked["limit"] if asked["limit"] <= _PAGE else _FEW
    return web.json_response(rows[asked["offset"] :][:limit])
