"""Examples of the bodies of answers, for the OpenAPI document. They tell one story: bob's."""

from typing import Any, Final

from abacus.api.api_problem import ApiProblem, FieldFault

WORTH: Final = {
    "points": 100,
    "program": "GRP",
    "member_id": "bob",
    "expires_on": "2026-07-31",
    "explanation": {"v": 1, "granted_by": "acme", "reason": "Welcome to Acme", "card": "SG@7", "points": 100},
}
QUOTE: Final = {**WORTH, "card": "SG@7", "quoted_for": "2026-01-10T04:30:00Z", "scheduled": False}
POINT_QUOTE: Final = {
    "member_id": "bob",
    "program": "GRP",
    "country": "SG",
    "points": 420,
    "money": "4.20",
    "currency": "SGD",
    "available": 500,
    "card": "SG@7",
}
AWARD: Final = {"award_id": "0d7a0f4e-6b1e-5f0c-9a53-2f8a4d0c6e11", "status": "queued", **WORTH}
POSTED: Final = {**AWARD, "status": "posted", "posted_at": "2026-01-10T04:30:02Z", "balance": 280}
OVER: Final = ApiProblem("budget-exhausted", "5000 a day are used up").document()
TRANSFER: Final = {
    "id": "bob:GRP:3",
    "program": "GRP",
    "seq": 3,
    "kind": "spend",
    "points": -80,
    "balance_after": 200,
    "key": "api:acme:order-1001",
    "country": "SG",
    "occurred_at": "2026-01-10T04:30:00Z",
    "posted_at": "2026-01-10T04:30:00Z",
    "expires_on": None,
    "vests_on": None,
    "reverses": None,
    "actor": "acme",
    "explanation": {"v": 1, "points": -80, "reason": "A coffee", "spent_by": "acme", "available": 200},
}
HOLD: Final = {
    "hold_id": "5c0e7f0a-3b8e-5a44-8f2b-6b9f6d1f2a33",
    "program": "GRP",
    "points": 80,
    "until": "2026-01-10T04:45:00Z",
    "status": "open",
}
_WAITING: Final = {
    "approval_id": "0c6f1f2f-394b-5e0a-9a55-5b1a6a0c7a11",
    "status": "pending",
    "digest": "3f2a9c1be07d5511c0a1e2b7d94f6a80b5c3d2e1f0a99887766554433221100f",
    "asked_by": "person:ann",
    "asked_at": "2026-01-10T04:30:00Z",
    "decided_by": None,
    "decided_at": None,
    "note": None,
}
ADJUSTMENT: Final = {
    **_WAITING,
    "adjustment_id": "0c6f1f2f-394b-5e0a-9a55-5b1a6a0c7a11",
    "kind": "adjustment",
    "member_id": "bob",
    "program": "GRP",
    "country": "SG",
    "points": 50000,
    "reason": "Lost account found",
    "actor": "ann",
}
APPROVAL: Final = {
    **_WAITING,
    "kind": "limits",
    "subject": "acme",
    "country": None,
    "summary": "change the limits of acme: in_total from 5000 to 50000",
    "document": {
        "limits": {"in_total": 50000, "per_award": None, "per_day": None, "per_member_day": None},
        "partner_id": "acme",
    },
}
CAMPAIGN_DOCUMENT: Final[dict[str, Any]] = {
    "name": "third_order",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": "2027-01-01T00:00:00+08:00",
    "on": ["transactions/transaction.completed"],
    "when": {"operator": "eq", "lhs": "var.vertical", "rhs": "food"},
    "steps": [{"at": 3, "do": [{"award": {"points": 500}}]}],
    "limits": {"runs": {"overall": 20000, "member": 2}},
}
OFFER_DOCUMENT: Final[dict[str, Any]] = {
    "name": "lunch_20",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": "2027-01-01T00:00:00+08:00",
    "hours": ["11:00-14:00"],
    "audience": "public",
    "benefit": {"percent": "20", "cap": "5"},
    "scope": {"categories": ["food"]},
    "limits": {"uses": {"overall": 20000, "member_day": 1}},
    "paid_by": {"cost_centre": "marketing"},
}
REWARD_DOCUMENT: Final[dict[str, Any]] = {
    "name": "coffee",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": "2027-01-01T00:00:00+08:00",
    "texts": {"en": {"title": "A coffee", "terms": "At any of our counters."}},
    "price": {"points": 500, "tiers": {"gold": 400}},
    "delivery": {"pool": "coffee_codes", "low": 500},
    "limits": {"uses": {"overall": 20000, "member": 2}},
}
PROGRAMME_DOCUMENT: Final[dict[str, Any]] = {
    "name": "skymiles",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": "2027-01-01T00:00:00+08:00",
    "partner": "skyline",
    "program": "GRP",
    "unit": "miles",
    "out": {"give": 5, "get": 2, "minimum": 1000, "multiple": 500, "maximum": 100000, "price": "0.012"},
    "carrier": {"url": "https://loyalty.skyline.example/abacus"},
    "money": {"currency": "SGD", "tax_code": "ZR", "alert_below": "20000"},
}
JOURNEY_DOCUMENT: Final[dict[str, Any]] = {
    "name": "welcome",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": "2027-01-01T00:00:00+08:00",
    "entry": {"on": ["transactions/transaction.completed"]},
    "begin": "pause",
    "nodes": {
        "pause": {"wait": {"for": "2d"}, "next": "thanks"},
        "thanks": {"do": {"award": {"points": 50}}, "next": "through"},
        "through": {"exit": "through"},
    },
}
BATCH: Final = {
    "results": [
        {"idempotency_key": "w-1", "outcome": "accepted", "award": AWARD},
        {"idempotency_key": "w-2", "outcome": "refused", "problem": OVER},
    ]
}
EVENT: Final = {"key": "weather:rain.drop:drop-1"}
_NO_VARIABLE: Final = FieldFault(
    pointer="/events/1/var/city", detail="rain.drop has no such variable; did you mean city_id?"
)
_NO_EVENT: Final = ApiProblem("invalid", f"{_NO_VARIABLE.pointer}: {_NO_VARIABLE.detail}", errors=[_NO_VARIABLE])
EVENT_BATCH: Final = {
    "results": [{"outcome": "accepted", **EVENT}, {"outcome": "refused", "problem": _NO_EVENT.document()}]
}
_NO_LATITUDE: Final = FieldFault(pointer="/positions/1/lat", detail="Input should be less than or equal to 90")
_NO_POSITION: Final = ApiProblem("invalid", f"{_NO_LATITUDE.pointer}: {_NO_LATITUDE.detail}", errors=[_NO_LATITUDE])
POSITION_BATCH: Final = {
    "results": [{"outcome": "accepted"}, {"outcome": "refused", "problem": _NO_POSITION.document()}]
}
MEMBER: Final = {
    "member_id": "bob",
    "accounts": [
        {
            "program": "GRP",
            "balance": 280,
            "held": 80,
            "pending": 60,
            "available": 140,
            "tier": "platinum",
            "expires_on": "2026-07-31",
        }
    ],
}
LOTS: Final = {
    "member_id": "bob",
    "lots": [
        {
            "id": "bob:GRP:1",
            "program": "GRP",
            "seq": 1,
            "key": "txn:rides:T-1001",
            "kind": "earn",
            "points": 180,
            "remaining": 100,
            "occurred_at": "2026-01-10T04:30:00Z",
            "expires_on": "2026-07-31",
        }
    ],
    "next": None,
}
MOVEMENT: Final = {**TRANSFER, "member_id": "bob", "balance": 200, "available": 200}
_TOO_MANY: Final = ApiProblem("insufficient-points", "500 points; 200 of 280 are available")
MOVEMENTS: Final = {
    "results": [
        {"idempotency_key": "till-1", "outcome": "posted", "movement": MOVEMENT},
        {"idempotency_key": "till-2", "outcome": "refused", "problem": _TOO_MANY.document()},
    ]
}
HOLDS: Final = {"member_id": "bob", "holds": [HOLD]}
ADJUSTMENTS: Final = {"adjustments": [ADJUSTMENT]}
TRANSFERS: Final = {"transfers": [TRANSFER], "next": "eyJzIjozfQ"}
