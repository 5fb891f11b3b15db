"""The books of points, for finance: movements, liability, ageing, cohorts, revenue."""
