"""What the harness asks of a Formance Ledger, answered as version 2 of its API documents it."""

import json
from collections import Counter
from itertools import count
from typing import Any, Final

from aiohttp import web

_BULK: Final = 200
_PAGE: Final = 100  # it gives no more, whatever was asked for


class FormanceSim:
    """Keeps its ledgers in memory."""

    def __init__(self) -> None:
        self.app = web.Application()
        self.app.router.add_post("/v2/{ledger}", self._open)
        self.app.router.add_post("/v2/{ledger}/_bulk", self._bulk)
        self.app.router.add_get("/v2/{ledger}/transactions", self._transactions)
        self.app.router.add_get("/v2/{ledger}/aggregate/balances", self._balances)
        self._ledgers: dict[str, dict[str, Any]] = {}
        self._numbers = count(1)

    async def _open(self, request: web.Request) -> web.Response:
        self._ledgers[request.match_info["ledger"]] = {}
        return web.Response(status=204)

    async def _bulk(self, request: web.Request) -> web.Response:
        elements = await request.json()
        if len(elements) > _BULK:
            return web.json_response({"errorCode": "BULK_SIZE_EXCEEDED"}, status=413)
        known = self._ledgers[request.match_info["ledger"]]
        for element in elements:
            assert element["action"] == "CREATE_TRANSACTION"
            assert element["data"]["force"]  # else an issuer without points is refused
            known.setdefault(element["ik"], {"id": next(self._numbers), **element["data"]})
        results = [{"responseType": each["action"], "data": known[each["ik"]], "logID": 1} for each in elements]
        return web.json_response({"data": results})

    async def _transactions(self, request: web.Request) -> web.Response:
        begin = int(request.query.get("cursor", "0"))
        known = list(self._ledgers[request.match_info["ledger"]].values())[::-1]
        page, more = known[begin : begin + _PAGE], len(known) > begin + _PAGE
        cursor: dict[str, Any] = {"pageSize": _PAGE, "hasMore": more, "data": page}
        return web.json_response({"cursor": cursor | ({"next": str(begin + _PAGE)} if more else {})})

    async def _balances(self, request: web.Request) -> web.Response:
        kind = json.loads(request.query["query"])["$match"]["address"]
        balances: Counter[str] = Counter()
        for each in self._ledgers[request.match_info["ledger"]].values():
            for posting in each["postings"]:
                if posting["destination"].startswith(kind):
                    balances[posting["asset"]] += posting["amount"]
                if posting["source"].startswith(kind):
                    balances[posting["asset"]] -= posting["amount"]
        return web.json_response({"data": dict(balances)})
