"""What the books say of points, for those who answer for the money: movements, liability, ageing, cohorts, revenue."""
