"""What campaigns reach outside: webhooks that they call, services that they ask, and the pace of each.

A downstream is a document of an operator's, in versions. A service that is down is left alone for a while; its policy
says whether a value is missing or the event waits.
"""
