"""The sums of finance: liability, cohorts, deferred revenue, rollforward. Pure."""
