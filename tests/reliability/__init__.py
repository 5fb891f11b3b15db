"""Tools that break the house on purpose: faults, crash points, mutants, and a simulation."""
