"""The optional packages that the embedded stack runs on."""

from importlib.util import find_spec

from abacus.core.errors import Refused


def demand(part: str, *modules: str) -> None:
    """Refuse with the remedy if a package that `part` needs is not installed."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise Refused(
            f'embedded {part} needs {", ".join(missing)}, which is not installed: pip install "abacus[embedded]"'
        )
