"""Looks at the house every half minute, whether or not somebody looks at a page.

One process of the console at a time looks. What it saw is rows: alarms, and how long messages waited in the last hour.
So all processes show the same, also after they were started anew.
"""
