"""`python -m abacus` is `abacus`."""

from abacus.cli.main import main

main()
