"""The version of this distribution; it is released together with Abacus, under the same number."""

VERSION = "0.1.0"
