"""The document of a rate card that the tests change."""

SINGAPORE = """\
scope = "SG"
program = "GRP"
currency = "SGD"
timezone = "Asia/Singapore"
effective_from = 2026-01-01T00:00:00+08:00
eppf = "1"
rounding = "floor"
expiry_months = 6
[verticals]
food = "2"
[payment_types]
wallet = "2"
[tiers]
member = "1"
gold = "2.25"
[fixed_awards]
"booking.cancelled_by_driver" = 100
[tier_policy]
period_months = 6
thresholds = { gold = 1500 }
"""
