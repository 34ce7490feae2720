"""The table of lowerings: which function turns a call of an ATen operator into IR."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

Lowering = Callable[..., Any]

_LOWERINGS: dict[str, Lowering] = {}
_COMPLEX: dict[str, Lowering] = {}


def lowering(*operators: str) -> Callable[[Lowering], Lowering]:
    """Registers a function for operators named `aten.relu.default`.

    An in-place operator (`aten.relu_.default`) uses the functional one's lowering by itself.
    """
    return _register(_LOWERINGS, operators)


def complex_lowering(*operators: str) -> Callable[[Lowering], Lowering]:
    """Registers a function for calls of operators that take or give complex tensors."""
    return _register(_COMPLEX, operators)


def _register(table: dict[str, Lowering], operators: tuple[str, ...]) -> Callable[[Lowering], Lowering]:
    def register(function: Lowering) -> Lowering:
        for operator in operators:
            if operator in table:
                raise ValueError(f"two lowerings for {operator}")
            table[operator] = function
        return function

    return register


def functional_name(operator: str) -> str:
    """`aten.add.Tensor` for `aten.add_.Tensor`; other names are returned as they are."""
    namespace, name, overload = operator.split(".")
    if name.endswith("_") and not name.endswith("__"):
        name = name[:-1]
    elif name.startswith("__i") and name.endswith("__"):
        name = f"__{name[3:]}"
    return f"{namespace}.{name}.{overload}"


def is_in_place(operator: str) -> bool:
    return functional_name(operator) != operator


def find(operator: str) -> Lowering | None:
    """The lowering of an operator; an in-place operator falls back to the functional one's."""
    _load()
    return _LOWERINGS.get(operator) or _LOWERINGS.get(functional_name(operator))


def find_complex(operator: str) -> Lowering | None:
    """The same for a call that takes or gives complex tensors."""
    _load()
    return _COMPLEX.get(operator) or _COMPLEX.get(functional_name(operator))


def supported() -> list[str]:
    """All operators that have a lowering, sorted."""
    _load()
    return sorted(_LOWERINGS)


_loaded = False


def _load() -> None:
    """Imports every module of `ops`, once."""
    global _loaded
    if _loaded:
        return
    from solar.frontends.torch import ops

    for module in pkgutil.iter_modules(ops.__path__):
        importlib.import_module(f"{ops.__name__}.{module.name}")
    _loaded = True
