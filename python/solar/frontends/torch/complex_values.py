"""Complex tensors: the language has none, so that a program holds their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.utils._pytree as pytree

from solar.frontends.torch import registry
from solar.frontends.torch.draft import Meta, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from solar.frontends.torch.builder import Builder

_PARTS = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}

# Operators that do the same to both parts. Views of the parts are views of the whole.
_VIEWS = (
    "view", "_unsafe_view", "reshape", "flatten", "unflatten", "permute", "transpose", "t", "mT", "numpy_T", "movedim",
    "swapaxes", "swapdims", "unsqueeze", "squeeze", "expand", "slice", "select", "narrow", "split", "chunk",
    "split_with_sizes", "unbind", "diagonal", "alias", "detach", "contiguous", "lift_fresh", "lift_fresh_copy",
    "view_as", "reshape_as", "unfold",
)  # fmt: skip
_MOVES = (
    "clone", "stack", "flip", "roll", "repeat", "cat", "index", "index_select", "gather", "constant_pad_nd", "pad",
    "sum", "mean", "cumsum", "neg", "copy", "where", "tril", "triu", "diag_embed", "diag", "embedding",
)  # fmt: skip
# Of these every operand with numbers is complex, or becomes it.
_JOINS = ("cat", "stack", "where", "copy")


@dataclass(frozen=True, eq=False)
class Complex:
    """A complex tensor. `pair`, where there is one, holds both parts along a last axis, as torch does in memory."""

    real: Value
    imag: Value
    pair: Value | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.real.shape

    @property
    def rank(self) -> int:
        return self.real.rank

    @property
    def dtype(self) -> torch.dtype:
        return next(whole for whole, part in _PARTS.items() if part == self.real.dtype)


def part_type(dtype: torch.dtype) -> torch.dtype:
    """The type of the parts; real types are their own."""
    return _PARTS.get(dtype, dtype)


def of_pair(b: Builder, pair: Value) -> Complex:
    """The complex tensor in a real one whose last axis has two elements."""
    real, imag = (b.slice_text(pair, pair.rank - 1, place, None) for place in "01")
    return Complex(real, imag, pair)


def joined(b: Builder, real: Value, imag: Value) -> Complex:
    """A complex tensor that an operator makes: in memory its parts lie side by side."""
    return of_pair(b, b.stack([real, imag], real.rank))


def as_pair(b: Builder, x: Complex) -> Value:
    """Both parts in one tensor."""
    return x.pair or b.stack([x.real, x.imag], x.rank)


def as_complex(b: Builder, x: Complex | Value, dtype: torch.dtype) -> Complex:
    """A real tensor with imaginary parts of 0; a complex one in the type that its parts shall have."""
    if isinstance(x, Complex):
        return x if x.real.dtype == dtype else Complex(b.cast(x.real, dtype), b.cast(x.imag, dtype))
    return Complex(b.cast(x, dtype), b.constant(0, x.shape, dtype))


def find(operator: str) -> Callable[..., Any] | None:
    """The lowering of an operator whose arguments or results are complex."""
    if (own := registry.find_complex(operator)) is not None:
        return own
    name = registry.functional_name(operator).split(".")[1]
    function = registry.find(operator)
    if function is None or name not in (*_VIEWS, *_MOVES):
        return None

    def lower(b: Builder, *args: Any, **kwargs: Any) -> Any:
        return _part_by_part(b, name, function, args, kwargs)

    return lower


def _part_by_part(b: Builder, name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
    metas = b.results
    dtype = part_type(b.result.dtype)
    leaves, spec = pytree.tree_flatten((args, kwargs))
    if name in _JOINS:
        leaves = [as_complex(b, x, dtype) if _has_numbers(x) else x for x in leaves]
    b.results = tuple(Meta(meta.shape, part_type(meta.dtype)) for meta in metas)
    both = []
    for imaginary in (False, True):
        given = [_part(x, imaginary) for x in leaves]
        part_args, part_kwargs = pytree.tree_unflatten(given, spec)
        both.append(function(b, *part_args, **part_kwargs))
    b.results = metas
    make = Complex if name in _VIEWS else lambda real, imag: joined(b, real, imag)
    if isinstance(both[0], Value):
        return make(*both)
    return [make(real, imag) for real, imag in zip(*both, strict=True)]


def _has_numbers(x: Any) -> bool:
    return isinstance(x, Complex) or (isinstance(x, Value) and x.dtype != torch.bool)


def _part(x: Any, imaginary: bool) -> Any:
    if isinstance(x, Complex):
        return x.imag if imaginary else x.real
    if isinstance(x, torch.dtype):
        return part_type(x)
    if isinstance(x, complex):
        return x.imag if imaginary else x.real
    return x
