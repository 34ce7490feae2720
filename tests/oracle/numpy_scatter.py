"""scatter of Affine Loop IR: point by point in loop order. See numpy_eval.py."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .alir_nodes import Kernel
from .numpy_kernel import Nest
from .numpy_values import Array, ProgramError, Tensor, dtype_of, round_to

if TYPE_CHECKING:
    from .numpy_eval import Scope

COMBINE: dict[str, Any] = {
    "+=": np.add,
    "*=": np.multiply,
    "max=": np.maximum,
    "min=": np.minimum,
    "and=": np.logical_and,
    "or=": np.logical_or,
}


def run(scatter: Kernel, scope: "Scope") -> dict[str, Tensor]:
    target = scatter.targets[0]
    type_ = scatter.types[target.tensor]
    element, shape = scope.element(type_), scope.shape(type_)
    nest = Nest(scatter, scope, slice(0, scope.samples))
    space = (nest.count, *nest.loops.values())
    with np.errstate(all="ignore"):
        mask = nest.guard()
        nest.active = [] if mask is None else [mask]
        value = np.asarray(nest.value(scatter.values[0])).astype(dtype_of(element, scope.exact))
        subscripts = [np.asarray(nest.variables[s] if isinstance(s, str) else nest.value(s))
                      for s in nest.subscript_names(target.subscripts)]  # fmt: skip
        nest.active = []
    reached = np.broadcast_to(True if mask is None else mask, space)
    place: Array = np.zeros(space, dtype=np.int64)
    for axis, subscript in enumerate(subscripts):
        if (((subscript < 0) | (subscript >= shape[axis])) & reached).any():
            raise ProgramError(f"subscript {axis} of `{target.tensor}` leaves its axis", "index-out-of-range")
        place = place * shape[axis] + subscript
    if scatter.base is None:
        base = np.zeros((scope.samples, *shape), dtype=dtype_of(element, scope.exact))
    else:
        base = np.broadcast_to(scope.tensors[scatter.base].values, (scope.samples, *shape))
    result = base.reshape(scope.samples, -1).copy()
    values = np.broadcast_to(value, space)
    for sample in range(scope.samples):
        at, new = place[sample][reached[sample]], values[sample][reached[sample]]
        if scatter.assign == "=":
            if len(np.unique(at)) != len(at):
                raise ProgramError(f"an element of `{target.tensor}` is written twice", "duplicate-write")
            result[sample, at] = new
        else:
            with np.errstate(all="ignore"):
                COMBINE[scatter.assign].at(result[sample], at, new)
    return {target.tensor: Tensor(element, round_to(result.reshape(base.shape), element, scope.exact))}
