"""What campaigns reach outside of their process: webhooks that they call, services that they ask, and the pace of each.

`decide/downstream.py` has the values, `store.py` their versions and secrets, `services.py` asks.
"""
