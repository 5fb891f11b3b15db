"""Measurements, run by `make bench`. Absolute figures depend on the machine; the ratios are taken within one run."""
