"""A problem document (RFC 9457) that ends a request: a stable type, a title, a detail, and the id of the request.

Every process with a port for probes loads this module, so it stays without FastAPI.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

MEDIA_TYPE: Final = "application/problem+json"
TYPES: Final = "/problems/"

# Every type of problem: its slug, its usual status, and its remedy. Served at /problems.
KINDS: Final[Mapping[str, tuple[int, str, str]]] = {
    "malformed": (400, "The request cannot be read", "Send JSON, with each header as the documentation says."),
    "idempotency-key-missing": (400, "No idempotency key", "Send an Idempotency-Key of 1 to 255 visible characters."),
    "unauthorized": (401, "Not authorized", "Send `Authorization: Bearer …` with a key or token that is valid."),
    "bad-signature": (401, "The signature does not hold", "Sign as docs/partners/partners.md#signed-requests shows."),
    "fixed-points-not-allowed": (403, "The partner may not name points", "Send the transaction instead."),
    "computed-points-not-allowed": (403, "The partner may not send transactions", "Send points instead."),
    "source-not-allowed": (403, "The partner may not name the source", "Ask the operator for the source."),
    "country-not-allowed": (403, "The partner may not award there", "Ask the operator for the country."),
    "award-cap-exceeded": (403, "More points than one award may carry", "Award less, or ask for a higher cap."),
    "member-day-cap-exceeded": (403, "More than a member may get a day", "Wait for tomorrow (UTC)."),
    "budget-exhausted": (403, "The partner's budget is exhausted", "Wait for tomorrow (UTC), or ask for more."),
    "spending-not-allowed": (403, "The partner may not spend points", "Ask the operator."),
    "adjustments-not-allowed": (403, "The partner may not do this", "Ask the operator."),
    "members-not-allowed": (403, "The partner may not read members", "Ask the operator."),
    "reward-locked": (403, "The reward is for other members", "Show the rewards that the member can have."),
    "counts-not-allowed": (403, "The partner may not read counters", "Ask the operator."),
    "offers-not-allowed": (403, "The partner may not ask for offers", "Ask the operator."),
    "positions-not-allowed": (403, "The partner may not say where members are", "Ask the operator."),
    "exchanges-not-allowed": (403, "The partner may not bring points", "Ask the operator."),
    "journeys-not-allowed": (403, "The partner may not let members enter journeys", "Ask the operator."),
    "explain-not-allowed": (
        403,
        "The partner may not ask why offers fail",
        "Leave `explain` out, or ask the operator.",
    ),
    "places-not-allowed": (403, "The partner may not load places", "Ask the operator."),
    "second-person-needed": (403, "Somebody else has to approve it", "Have another person approve it."),
    "not-independent": (
        403,
        "The approver has its access from the person who asked",
        "Have an approver decide who is independent, or wait until the time that `detail` names.",
    ),
    "person-needed": (403, "Only a person may do this", "Use a personal token, `abp_…`; partners and logins may not."),
    "partner-needed": (403, "Only a partner may do this", "Use a partner's key, `abk_live_…`; people may not."),
    "role-needed": (403, "The person's roles do not allow this", "Ask an admin for the role."),
    "no-such-hold": (404, "No such hold", "Check the id of the hold and the member's."),
    "not-found": (404, "Not found", "Check the id and the path."),
    "unknown-key": (404, "No counter has such a key", "Compare the key with the templates of the counters."),
    "method-not-allowed": (405, "The path does not take this method", "See `Allow`."),
    "key-in-flight": (409, "The key is being dealt with", "Ask again after `Retry-After` seconds."),
    "already-awarded": (409, "The transaction was awarded before", "`award_id` names that award where it is yours."),
    "insufficient-points": (409, "Not enough points are available", "See `available` of the member's account."),
    "money-differs": (409, "The points pay another amount", "Ask for a new quote: the card may have changed."),
    "hold-not-open": (409, "The hold is not open", "It was captured or released, or its time is over."),
    "hold-of-exchange": (409, "The hold is an exchange's", "The exchange settles it once its partner has answered."),
    "reversed-already": (409, "It was taken back before", "See the transfers that name it."),
    "offer-refused": (409, "The offer does not fit", "`reason` says which condition of the offer failed first."),
    "offer-limit-reached": (409, "A limit of the offer is reached", "`limit` names it; others may release some."),
    "offer-changed": (409, "The offer gives something else now", "See `now`, and name it to redeem with it."),
    "reservation-ended": (409, "The reservation is not held any more", "See `reservation_status`; reserve again."),
    "approval-decided": (409, "It was decided before", "See its status."),
    "approval-void": (409, "It cannot take effect any more", "See its note, and ask again."),
    "approval-expired": (409, "Nobody decided in time", "Ask for it again; a movement under a new key."),
    "campaign-state": (409, "The campaign is in another state", "See its state and its versions."),
    "offer-state": (409, "The offer is in another state", "See its state and its versions."),
    "reward-closed": (409, "The reward is not there now", "See when it is there."),
    "reward-gone": (409, "Nothing is left of the reward", "Choose another reward, or ask again tomorrow."),
    "reward-limit-reached": (409, "The member has had its share", "See the limits of the reward."),
    "redemption-state": (409, "The redemption is in another state", "See its status."),
    "journey-state": (409, "The journey is in another state", "See its state and its versions."),
    "programme-closed": (409, "The programme is not there now", "See when it is there."),
    "no-link": (409, "There is no such link any more", "Ask for another one."),
    "link-not-verified": (409, "The link is not verified", "Verify it by a code, or let the partner be asked."),
    "link-cooling-off": (409, "The link may not be used yet", "See its `usable_from`."),
    "linked-already": (409, "The member has another account there", "End that link first."),
    "number-linked": (409, "The account is linked already", "An account belongs to one member."),
    "wrong-code": (409, "It is not the code that was sent", "Send the newest code, while tries are left."),
    "code-over": (409, "No code is open", "Ask for the link again, with `send_code`."),
    "partner-not-askable": (409, "The partner cannot be asked", "Ask for the link again, with `send_code`."),
    "sign-in-not-offered": (409, "Members do not sign in at this partner", "Link the account by its number."),
    "redirect-not-allowed": (422, "The programme does not have this address", "Name one of its `redirect_uris`."),
    "wrong-sign-in": (
        409,
        "It is not what the partner sends back for this link",
        "Send `code`, `state` and `iss` as they came to the redirect address, while tries are left.",
    ),
    "sign-in-over": (409, "No sign-in is open", "Begin again: ask for the link again, with `oauth`."),
    "programme-state": (409, "The programme is in another state", "See its state and its versions."),
    "quote-over": (409, "The quote is good no more", "Ask for a new quote."),
    "exchange-limit-reached": (409, "A limit of the programme is reached", "`detail` says which, and what is left."),
    "exchange-closed": (409, "The programme exchanges nothing now", "See when it is there, and which way it goes."),
    "exchange-not-eligible": (409, "The programme is not for this member", "Show programmes that are."),
    "exchange-state": (409, "The exchange is in another state", "See its state and its trail."),
    "exchange-id-reused": (409, "The id was used for other facts", "Take a new id for each exchange."),
    "exchange-dropped": (409, "The id is refused for ever", "Take another id."),
    "reward-state": (409, "The reward is in another state", "See its state and its versions."),
    "digest-mismatch": (409, "It is not what you looked at", "Read it again, and send the digest that it has now."),
    "counter-retired": (410, "The counter is retired", "Ask the operator which counter took its place."),
    "unsupported-media-type": (415, "The body is not JSON", "Send it as `Content-Type: application/json`."),
    "too-large": (413, "The body is too large", "Send at most 2 MiB."),
    "too-slow": (408, "The request did not come in time", "Send each request as a whole, without a pause."),
    "head-too-large": (431, "The head of the request is too large", "Send fewer and shorter headers."),
    "idempotency-key-reused": (422, "The key was used for other facts", "Take a new key for each new award."),
    "invalid": (422, "A field is not as it must be", "`errors` names each field by its JSON pointer."),
    "unknown-country": (422, "No rate card for the country", "Check the country."),
    "no-card-in-force": (422, "No rate card was in force then", "Check the time of the transaction."),
    "unknown-vertical": (422, "The card does not price the vertical", "Check the vertical."),
    "unknown-payment-type": (422, "The card does not price the payment type", "Check the payment type."),
    "unknown-currency": (422, "Not the card's currency", "Send amounts in the currency of the card."),
    "unknown-tier": (422, "The member's tier is not on the card", "The operator has to price the tier."),
    "unknown-program": (422, "Not the card's program", "Leave the program out, or name the card's."),
    "no-point-value": (422, "The card does not say what a point pays", "The operator has to publish it."),
    "out-of-range": (422, "More points than an award can carry", "Check the amount."),
    "in-the-future": (422, "A time that is still to come", "Check the clock."),
    "to-before-from": (422, "The range ends before it begins", "Exchange `from` and `to`."),
    "beyond-keep": (422, "A part of the range is forgotten", "Begin later, or at the beginning of an hour or a day."),
    "grain-not-kept": (422, "The counter keeps no slots of this length", "Ask for another `grain`."),
    "too-many-slots": (422, "More slots than an answer holds", "Take longer slots or a shorter range."),
    "too-many-keys": (422, "The counter has too many keys to compare", "List its keys by pages."),
    "other-country": (422, "The member's points are in another country", "Ask in the member's country."),
    "contradiction": (422, "Two fields contradict each other", "Name the member and the country once."),
    "hold-too-small": (422, "More points than the hold holds", "Capture at most what is held."),
    "rollback-too-large": (422, "More than is left of the redemption", "Roll back at most what is left."),
    "not-reversible": (422, "It cannot be taken back", "Earned, spent and adjusted points can be taken back."),
    "amount-not-allowed": (422, "The amount does not fit the terms", "`detail` names the step, minimum or maximum."),
    "account-closed": (422, "The account is closed", "The member has to link another one."),
    "account-unknown": (422, "No member has linked the account", "The member has to link it first."),
    "cap-reached": (422, "A limit of the programme is reached", "Ask for less, or later, under another id."),
    "not-eligible": (422, "The exchange is not for this member", "`detail` says why."),
    "too-many-attempts": (429, "Too many attempts today", "Ask again after `Retry-After` seconds."),
    "too-many-requests": (429, "Too many requests", "Ask again after `Retry-After` seconds."),
    "internal": (500, "Something went wrong here", "Tell the operator the request id."),
    "unavailable": (503, "Something this request needs is down", "Ask again after `Retry-After` seconds."),
}


class FieldFault(BaseModel):
    """One field that is not as it must be."""

    pointer: str
    detail: str


class Problem(BaseModel):
    """The body of every error."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "/problems/budget-exhausted",
                    "title": "The partner's budget is exhausted",
                    "status": 403,
                    "detail": "100 points; 40 of the budget of 5000 a day are left",
                    "request_id": "6f1c0c4e7b0f4c52",
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    request_id: str | None = None
    errors: list[FieldFault] | None = None


class ApiProblem(Exception):  # it is the problem that the answer carries
    """Ends a request with a problem document."""

    def __init__(
        self,
        kind: str,
        detail: str = "",
        *,
        errors: Sequence[FieldFault] = (),
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.status, self.title, remedy = KINDS[kind]
        self.detail = detail or remedy
        self.errors = list(errors)
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})

    def document(self, request_id: str | None = None) -> dict[str, Any]:
        document: dict[str, Any] = {
            "type": TYPES + self.kind,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            **({"request_id": request_id} if request_id else {}),
            **self.extra,
        }
        if self.errors:
            document["errors"] = [fault.model_dump() for fault in self.errors]
        return document

    def body(self, request_id: str | None) -> bytes:
        document = self.document(request_id)
        try:
            return orjson.dumps(document)
        except TypeError:  # a detail quotes half a character of the request
            return json.dumps(document).encode()

    def response(self, request_id: str | None) -> Response:
        return Response(self.body(request_id), self.status, media_type=MEDIA_TYPE, headers=self.headers)
