"""When points lapse: at a month's end, unless the member was active again.

A month's end of a country is a record with its envelopes. An account lapses once with it, however often a message
comes. The expirer decides under the account's lock.
"""
