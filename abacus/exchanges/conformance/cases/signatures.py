"""Signatures: nothing is done without a signature that holds, for this request and now."""

from typing import Final

import orjson

from abacus.exchanges.conformance.case import Cases
from abacus.exchanges.conformance.kit import Kit, Said, Signing, expect, expect_credited, expect_problem, new_id
from abacus.exchanges.decide.contract import JSON, VERIFY_PATH
from abacus.platform.delivery.decide.signature import new_secret

CASES: Final = Cases()
_SIX_MINUTES_S: Final = 360
_FOUR_MINUTES_S: Final = 240


@CASES.case("a request without a signature is 401, and nothing is done")
async def signature_missing(kit: Kit) -> None:
    await _refused(kit, Signing(leaves_out="all"))


@CASES.case("each of the three headers is needed")
async def signature_headers(kit: Kit) -> None:
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        await _refused(kit, Signing(leaves_out=name))


@CASES.case("a signature with another secret is 401, and nothing is done")
async def signature_of_others(kit: Kit) -> None:
    await _refused(kit, Signing(secrets=(new_secret(),)))


@CASES.case("a signature of another body is 401, and nothing is done")
async def signature_of_another_body(kit: Kit) -> None:
    await _refused(kit, Signing(body=orjson.dumps(kit.facts(amount=1))))


@CASES.case("a signature of another route is 401: GET is not replayed as cancel")
async def signature_of_another_route(kit: Kit) -> None:
    id_ = new_id()
    signing = Signing(method="GET", path=f"/transfers/{id_}")
    expect_problem(await kit.ask("POST", f"/transfers/{id_}/cancel", signing=signing), 401)
    expect_credited(await kit.put(id_, kit.facts()), id_)


@CASES.case("a signature of another id is 401, and nothing is done")
async def signature_of_another_id(kit: Kit) -> None:
    await _refused(kit, Signing(path=f"/transfers/{new_id()}"))


@CASES.case("a signature that is six minutes old is 401, and nothing is done")
async def signature_old(kit: Kit) -> None:
    await _refused(kit, Signing(shift_s=-_SIX_MINUTES_S))


@CASES.case("a signature six minutes ahead is 401, and nothing is done")
async def signature_ahead(kit: Kit) -> None:
    await _refused(kit, Signing(shift_s=_SIX_MINUTES_S))


@CASES.case("clocks may differ by four minutes, either way")
async def signature_skewed(kit: Kit) -> None:
    for shift_s in (-_FOUR_MINUTES_S, _FOUR_MINUTES_S):
        said = await kit.ask("POST", VERIFY_PATH, {"number": kit.accounts.open}, signing=Signing(shift_s=shift_s))
        expect(said, 200, JSON)


@CASES.case("one of two signatures has to hold, while a secret is replaced")
async def signature_beside_another(kit: Kit) -> None:
    for secrets in ((new_secret(), kit.secret), (kit.secret, new_secret())):
        said = await kit.ask("POST", VERIFY_PATH, {"number": kit.accounts.open}, signing=Signing(secrets=secrets))
        expect(said, 200, JSON)


async def _refused(kit: Kit, signing: Signing) -> None:
    id_ = new_id()
    said: Said = await kit.ask("PUT", f"/transfers/{id_}", kit.facts(), signing=signing)
    expect_problem(said, 401)
    await kit.check_not_credited(id_)
