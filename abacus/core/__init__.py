"""Words every room shares: points, money, keys, time, errors. Standard library only."""
