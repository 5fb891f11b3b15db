"""The books of points, for finance: movements, liability, ageing, cohorts, revenue.

A report is one statement over one snapshot. A rollforward ties to the accounts, or says that it does not.
"""
