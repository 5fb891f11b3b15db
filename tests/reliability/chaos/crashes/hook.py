"""Modules that pass every crash point: rewritten as they are imported, on the way from source to code.

The files stay as they are, and nothing is built. Between two points runs the code that production runs.
"""

import sys
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any, Final

from tests.reliability.chaos.crashes.site import CROSSED, PASSED, WALKED, Side, marked
from tests.reliability.chaos.crashes.visits import passed


class Crossed:
    """An asynchronous context manager that passes a point on each side of its way in and its way out."""

    def __init__(self, into: str, out_of: str, inner: AbstractAsyncContextManager[Any]) -> None:
        self._into = into
        self._out_of = out_of
        self._inner = inner

    async def __aenter__(self) -> Any:
        passed(f"{self._into} {Side.BEFORE}")
        entered = await self._inner.__aenter__()
        passed(f"{self._into} {Side.AFTER}")
        return entered

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        passed(f"{self._out_of} {Side.BEFORE}")
        swallowed = await self._inner.__aexit__(kind, error, trace)
        passed(f"{self._out_of} {Side.AFTER}")
        return swallowed


async def walked(name: str, inner: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The items of an asynchronous iterator, with a point on each side of each step."""
    passed(f"{name} {Side.BEFORE}")
    async for each in inner:
        passed(f"{name} {Side.AFTER}")
        yield each
        passed(f"{name} {Side.BEFORE}")
    passed(f"{name} {Side.AFTER}")


_CALLED: Final[dict[str, Callable[..., Any]]] = {PASSED: passed, CROSSED: Crossed, WALKED: walked}


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """Compiles from the source every time: the compiled file beside it belongs to the module without points."""
        path = self.get_filename(fullname)
        tree, _ = marked(fullname, self.get_data(path).decode())
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(_CALLED)
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def __init__(self, modules: Collection[str]) -> None:
        self._modules = modules

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._modules:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin)
        return spec


def install(modules: Collection[str]) -> None:
    """From now on these modules are imported with crash points. Raises `ImportError` if one is there already."""
    if early := sorted(set(modules) & sys.modules.keys()):
        raise ImportError(f"imported before the hook: {', '.join(early)}")
    sys.meta_path.insert(0, _Finder(modules))
