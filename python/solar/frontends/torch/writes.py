"""The value of a tensor after a write to a view of it: every view operator undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solar.frontends.torch.errors import NotLoweredError

if TYPE_CHECKING:
    from torch import fx

    from solar.frontends.torch.builder import Builder, Value

_RESHAPES = ("view", "reshape", "_unsafe_view", "flatten", "unflatten", "squeeze", "unsqueeze", "view_as", "reshape_as")
_TRANSPOSES = ("transpose", "swapaxes", "swapdims")
_SPLITS = ("split", "chunk", "split_with_sizes")


def put_back(b: Builder, call: fx.Node, place: int | None, base: Value, value: Value) -> Value:
    """`base` after `value` was stored in the view of it that `call` makes (its result number `place`).

    Raises NotLoweredError for views that this is not written for.
    """
    name = str(call.target).split(".")[1].rstrip("_")
    given = arguments(call)
    if name in _RESHAPES:
        return b.reshape(value, base.shape)
    if name in _TRANSPOSES:
        first, second = (n for key, n in given.items() if key != "self")
        return b.transpose(value, first, second)
    if name in ("t", "mT", "numpy_T", "adjoint"):
        return b.transpose(value, -2, -1)
    if name == "permute":
        order = [base.axis(a) for a in given["dims"]]
        return b.permute(value, [order.index(a) for a in range(base.rank)])
    if name == "select":
        return _put_element(b, base, value, given["dim"], given["index"])
    if name == "unbind":
        assert place is not None
        return _put_element(b, base, value, given["dim"], place)
    if name == "slice":
        axis = base.axis(given["dim"])
        low, _, step = slice(given["start"], given["end"], given["step"]).indices(base.shape[axis])
        return b.write_slice(base, value, axis, low, step)
    if name == "narrow":
        axis = base.axis(given["dim"])
        return b.write_slice(base, value, axis, given["start"] % base.shape[axis])
    if name in _SPLITS:
        assert place is not None
        axis = base.axis(given["dim"])
        sizes = [int(part.shape[axis]) for part in call.meta["val"][:place]]
        return b.write_slice(base, value, axis, sum(sizes))
    if name == "diagonal":
        return b.write_diagonal(base, value, given["offset"], given["dim1"], given["dim2"])
    raise NotLoweredError(f"it writes to memory through a view that aten.{name} makes")


def _put_element(b: Builder, base: Value, value: Value, dim: int, index: int) -> Value:
    axis = base.axis(dim)
    return b.write_slice(base, b.unsqueeze(value, axis), axis, index % base.shape[axis])


def arguments(call: fx.Node) -> dict[str, Any]:
    """The arguments of a call by name, defaults included."""
    schema = call.target._schema  # type: ignore[union-attr]
    given = dict(zip((a.name for a in schema.arguments), call.args, strict=False)) | dict(call.kwargs)
    return {a.name: given.get(a.name, a.default_value) for a in schema.arguments}
