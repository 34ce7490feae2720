"""Every operator of torch's core vocabulary, called as a decomposed graph calls it."""

from collections.abc import Iterator
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch_case_generator import Case, Generator, named

UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp expm1 floor log log10 log1p log2 neg reciprocal relu "
    "round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc alias clone"
)
PREDICATES = ("isinf", "isnan", "logical_not")
BINARY = ("atan2", "logical_and", "logical_or", "logical_xor", "maximum", "minimum")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")

# What is no computation of a tensor that a model's forward pass makes, or none with a result of one size.
LEFT_OUT = {
    "_adaptive_avg_pool2d_backward.default": "a gradient",
    "avg_pool2d_backward.default": "a gradient",
    "convolution_backward.default": "a gradient",
    "embedding_dense_backward.default": "a gradient",
    "max_pool2d_with_indices_backward.default": "a gradient",
    "native_group_norm_backward.default": "a gradient",
    "native_layer_norm_backward.default": "a gradient",
    "nonzero.default": "the size of its result depends on data",
    "masked_scatter.default": "tested with the other writes, as masked_scatter",
    "_local_scalar_dense.default": "gives a number",
    "resize_.default": "changes the size of its argument",
    "sym_is_contiguous.default": "gives a number",
    "sym_numel.default": "gives a number",
    "sym_size.int": "gives a number",
    "sym_storage_offset.default": "gives a number",
    "sym_stride.int": "gives a number",
    "atan2.out": "writes to its argument `out`",
    "empty.memory_format": "gives any values",
    "empty_strided.default": "gives any values",
    "rand.default": "random",
    "randn.default": "random",
    "randperm.default": "random",
    "native_dropout.default": "random",
}

# How many of the results are of use outside of a gradient, where not all are.
RESULTS = {"_embedding_bag.default": 1}

Calls = dict[str, list[tuple[Any, ...]]]


def vocabulary(g: Generator) -> Iterator[Case]:
    for name, calls in all_calls(g).items():
        packet, overload = name.split(".")
        operator = getattr(getattr(torch.ops.aten, packet), overload)
        for arguments in calls:
            yield _case(name, operator, arguments)


def all_calls(g: Generator) -> Calls:
    """Arguments by overload."""
    calls: Calls = {}
    for part in (_pointwise, _reductions, _views, _movement, _windows, _normalizations, _others):
        calls |= part(g)
    return calls


def core_overloads() -> set[str]:
    """All overloads that torch tags as core."""
    names = set()
    for full in torch._C._dispatch_get_all_op_names():
        namespace, _, name = full.partition("::")
        packet, _, overload = name.partition(".")
        if namespace == "aten" and hasattr(torch.ops.aten, packet):
            operator = getattr(getattr(torch.ops.aten, packet), overload or "default", None)
            if operator is not None and torch.Tag.core in operator.tags:
                names.add(f"{packet}.{overload or 'default'}")
    return names


def _case(name: str, operator: Any, arguments: tuple[Any, ...]) -> Case:
    """Tensors anywhere in the arguments are inputs; a last dict is keyword arguments."""
    keywords = arguments[-1] if arguments and isinstance(arguments[-1], dict) else {}
    leaves, spec = pytree.tree_flatten((arguments[: len(arguments) - bool(keywords)], keywords))
    places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def call(*tensors: torch.Tensor) -> Any:
        whole = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            whole[place] = tensor
        args, kwargs = pytree.tree_unflatten(whole, spec)
        result = operator(*args, **kwargs)
        results = [result] if isinstance(result, torch.Tensor) else result[: RESULTS.get(name)]
        return [_stored(t) for t in results if t is not None and t.numel()]

    rest = [leaf for leaf in leaves if not isinstance(leaf, torch.Tensor)]
    return named(f"{name} {rest}", call, *(leaves[i] for i in places))


def _stored(result: torch.Tensor) -> torch.Tensor:
    """A result as a tensor of its own, where it may be a view."""
    return result.clone()


def _pointwise(g: Generator) -> Calls:
    calls: Calls = {}
    for name in UNARY.split():
        calls[f"{name}.default"] = [(g.special(g.shape()),), (g.floats(g.shape(0, 3), g.float_type()),)]
    for name in PREDICATES:
        calls[f"{name}.default"] = [(g.special(g.shape()),), (g.integers(g.shape(), 0, 2),)]
    for name in BINARY:
        a, b = g.broadcast_shapes(2)
        calls[f"{name}.default"] = [(g.floats(a), g.floats(b)), (g.floats(b, torch.float64), g.special(a).double())]
    for name in COMPARISONS:
        a, b = g.broadcast_shapes(2)
        calls[f"{name}.Tensor"] = [(g.integers(a, 0, 3), g.integers(b, 0, 3).float())]
        calls[f"{name}.Scalar"] = [(g.integers(a, 0, 3), 1), (g.floats(b), 0.5)]
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        a, b = g.broadcast_shapes(2)
        calls[f"{name}.Tensor"] = [(g.integers(a, -9, 9), g.integers(b, -9, 9)), (g.bools(a), g.bools(b))]
        calls[f"{name}.Scalar"] = [(g.integers(a, -9, 9, torch.int32), 5)]
    a, b = g.broadcast_shapes(2)
    for name in ("add", "sub", "mul", "div"):
        calls[f"{name}.Tensor"] = [(g.floats(a), g.floats(b, torch.bfloat16)), (g.floats(b), g.floats(a))]
        calls[f"{name}.Scalar"] = [(g.floats(a), 2), (g.floats(b, torch.float16), 0.3)]
    calls["add.Tensor"].append((g.integers(a, -9, 9), g.integers(b, -9, 9), {"alpha": 3}))
    for mode in ("floor", "trunc"):
        x, y = g.integers(a, -9, 9), g.integers(b, 1, 5)
        calls.setdefault("div.Tensor_mode", []).extend(
            [(x, y, {"rounding_mode": mode}), (g.floats(a), g.positive(b), {"rounding_mode": mode})]
        )
        calls.setdefault("div.Scalar_mode", []).append((x, 4, {"rounding_mode": mode}))
    for name in ("fmod", "remainder"):
        calls[f"{name}.Tensor"] = [(g.floats(a), g.positive(b)), (g.integers(a, -9, 9), g.integers(b, 1, 5))]
        calls[f"{name}.Scalar"] = [(g.floats(a), 0.7), (g.integers(a, -9, 9), 4)]
    calls["bitwise_not.default"] = [(g.integers(a, -9, 9),), (g.bools(a),)]
    calls["pow.Tensor_Tensor"] = [(g.positive(a), g.floats(b))]
    calls["pow.Tensor_Scalar"] = [(g.positive(a), 2.5), (g.floats(a), 2), (g.integers(a, -3, 4), 3)]
    calls["pow.Scalar"] = [(1.5, g.floats(a))]
    calls["clamp.default"] = [(g.special(a), -0.5, 0.75), (g.integers(a, -5, 5), None, 2)]
    calls["clamp.Tensor"] = [(g.floats(a), g.floats(b), g.floats(b)), (g.floats(a), None, g.floats(b))]
    calls["elu.default"] = [(g.floats(a), 0.7), (g.floats(a), 1.0, 1.05, 0.9)]
    calls["gelu.default"] = [(g.floats(a),), (g.floats(a), {"approximate": "tanh"})]
    calls["hardtanh.default"] = [(g.special(a), -2.0, 0.5)]
    calls["leaky_relu.default"] = [(g.special(a), 0.2)]
    calls["where.self"] = [(g.bools(a), g.floats(b), g.floats(a))]
    calls["_to_copy.default"] = [(g.floats(a), {"dtype": torch.float16}), (g.floats(a), {"dtype": torch.int32})]
    return calls


def _reductions(g: Generator) -> Calls:
    x, mask = g.floats((3, 1, 4, 2)) + 1, g.bools((3, 1, 4))
    distinct = torch.randperm(24, generator=g.torch).float().reshape(3, 2, 4)
    return {
        "amax.default": [(x, [-1, 0]), (x, [1], True), (x,)],
        "amin.default": [(x, [-1, 0]), (x, [1], True), (x,)],
        "any.default": [(mask,), (g.integers((2, 3), 0, 2),), (g.bools(()),)],
        "any.dim": [(mask, -1, True), (mask, 1)],
        "any.dims": [(mask, [0, -1])],
        "argmax.default": [(distinct,), (distinct, -2), (distinct, 0, True)],
        "argmin.default": [(distinct,), (distinct, -2), (distinct, 0, True)],
        "cumsum.default": [(x, -2), (x, 1), (g.integers((3, 4), 0, 5), 0)],
        "max.dim": [(distinct, -1), (distinct, 1, True)],
        "min.dim": [(distinct, -1), (distinct, 1, True)],
        "mean.default": [(x,)],
        "mean.dim": [(x, [-1, 0]), (x, None, True)],
        "prod.default": [(g.positive((3, 4)),), (g.positive(()),)],
        "prod.dim_int": [(x, -2), (x, 1, True)],
        "sort.default": [(distinct, -2), (distinct, 0, True)],
        "sum.dim_IntList": [(x, [-1, 0]), (x, [1], True), (x, None)],
        "topk.default": [(distinct, 2), (distinct, 1, -2, False)],
        "var.dim": [(x, [0, -2]), (x, [-2], False, True)],
        "var.correction": [(x, [2], {"correction": 0}), (x, None, {"keepdim": True})],
        "_softmax.default": [(x, -2, False), (x, 1, False)],
        "_log_softmax.default": [(x, -2, False), (x, 0, False)],
        "_cdist_forward.default": [(g.floats((2, 3, 4)), g.floats((2, 5, 4)), p, None) for p in (0.0, 1.0, 2.0, 3.0)],
        "_pdist_forward.default": [(g.floats((n, 3)), p) for n, p in ((2, 2.0), (5, 1.0), (9, 2.0), (4, 1.5))],
    }


def _views(g: Generator) -> Calls:
    x = g.floats((2, 6, 4))
    return {
        "as_strided.default": [
            (x, [3, 2, 4], [16, 4, 1]),
            (x, [11, 8], [4, 1]),
            (x, [2, 3], [7, 2], 5),
            (x, [4], [0], 3),
            (x, [48], [1]),
        ],
        "diagonal.default": [(x, 0, 1, 2), (x, -1, -1, 0)],
        "expand.default": [(g.floats((2, 1, 4)), [2, 3, 4]), (g.floats((1,)), [2, -1])],
        "permute.default": [(x, [2, 0, 1]), (x, [-1, 1, 0])],
        "select.int": [(x, 1, -2), (x, -1, 0)],
        "slice.Tensor": [(x, 1, 1, -1), (x, -1, None, None, 3), (x, 1, -4, 100, 2)],
        "split_with_sizes.default": [(x, [1, 3, 2], 1), (x, [4], -1)],
        "squeeze.dim": [(g.floats((2, 1, 3)), 1), (g.floats((2, 1, 3)), 0)],
        "squeeze.dims": [(g.floats((1, 2, 1)), [0, -1])],
        "unsqueeze.default": [(x, 0), (x, -1)],
        "view.default": [(x, [12, 4]), (x, [2, -1]), (x, [1, 2, 3, 2, 4])],
    }


def _movement(g: Generator) -> Calls:
    x, rows = g.floats((4, 3, 5)), g.integers((2,), 0, 3)
    once = torch.stack([torch.randperm(3, generator=g.torch) for _ in range(2)])
    often = g.integers((2, 3), 0, 3)
    y, s = g.floats((2, 3)), g.floats((2, 3))
    return {
        "cat.default": [([x, g.floats((4, 1, 5))], 1), ([x, x], -1), ([x],)],
        "copy.default": [(x, g.floats((3, 1)))],
        "constant_pad_nd.default": [(x, [1, 2]), (x, [0, 0, 2, -1, 1, 0], 0.5)],
        "flip.default": [(x, [0, -1]), (x, [1])],
        "gather.default": [(x, -2, g.integers((4, 6, 5), 0, 3)), (x, 0, g.integers((1, 2, 5), 0, 4))],
        "index.Tensor": [(x, [None, rows]), (x, [rows, None, g.integers((2,), -5, 5)]), (x, [rows])],
        "index_put.default": [
            (x, [None, once[0]], g.floats((3, 5))),
            (x, [rows, rows], g.floats((2, 5)), True),
        ],
        "index_select.default": [(x, -2, rows), (x, 1, rows), (g.floats(()), 0, torch.tensor([0]))],
        "reflection_pad1d.default": [(g.floats((2, 5)), [2, 1])],
        "reflection_pad2d.default": [(x, [1, 2, 2, 0])],
        "reflection_pad3d.default": [(g.floats((1, 3, 4, 5)), [1, 2, 3, 0, 1, 1])],
        "replication_pad2d.default": [(x, [3, 0, 1, 2])],
        "replication_pad3d.default": [(g.floats((1, 1, 2, 3)), [1, 0, 3, 2, 1, 1])],
        "repeat.default": [(x, [2, 1, 1, 3]), (x, [1, 2, 1])],
        "scatter.src": [(y, 1, once, s), (y, -1, once, s), (g.floats(()), 0, torch.tensor(0), g.floats(()))],
        "scatter.value": [(y, -1, often, 1.5)],
        "scatter_add.default": [(y, -1, often, s), (y, 0, g.integers((5, 2), 0, 2), g.floats((5, 3)))],
        "scatter_reduce.two": [
            (y, 1, often, s, how, {"include_self": own})
            for how in ("sum", "prod", "mean", "amax", "amin")
            for own in (True, False)
        ],
        "select_scatter.default": [(x, g.floats((4, 5)), -2, -1)],
        "slice_scatter.default": [(x, g.floats((4, 1, 5)), 1, 2), (x, g.floats((2, 3, 5)), 0, 0, 4, 2)],
    }


def _windows(g: Generator) -> Calls:
    one, two, three = g.floats((2, 3, 9)), g.floats((2, 3, 6, 7)), g.floats((1, 2, 4, 5, 6))
    weights = [g.floats((4, 3, 3)), g.floats((4, 3, 3, 2)), g.floats((4, 2, 2, 3, 1))]
    convolutions = [
        (one, weights[0], None, [2], [1], [1], False, [0], 1),
        (two, weights[1], g.floats((4,)), [1, 2], [0, 1], [2, 1], False, [0, 0], 1),
        (two, g.floats((6, 1, 3, 3)), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 3),
        (three, weights[2], g.floats((4,)), [1, 1, 1], [1, 0, 0], [1, 1, 1], False, [0, 0, 0], 1),
        (one, g.floats((3, 4, 3)), g.floats((4,)), [2], [1], [1], True, [1], 1),
        (two, g.floats((3, 2, 3, 2)), None, [2, 1], [0, 1], [1, 2], True, [0, 0], 1),
        (three, g.floats((2, 3, 2, 1, 2)), None, [2, 2, 1], [0, 0, 0], [1, 1, 1], True, [1, 0, 0], 1),
        (two, g.floats((3, 2, 3, 2)), g.floats((6,)), [2, 2], [1, 0], [1, 1], True, [1, 1], 3),
    ]
    grids = [
        (two, g.floats((2, 4, 3, 2), scale=0.8), mode, padding, align)
        for mode in range(3)
        for padding in range(3)
        for align in (False, True)
    ]
    columns = g.floats((2, 12, 4))
    return {
        "convolution.default": convolutions,
        "_adaptive_avg_pool2d.default": [(two, [3, 2]), (two, [1, 1]), (two, [4, 7])],
        "_adaptive_avg_pool3d.default": [(three, [2, 5, 3]), (three, [3, 2, 4])],
        "adaptive_avg_pool1d.default": [(one, [4]), (one, [3])],
        "avg_pool1d.default": [(one, [3], [2], [1], True), (one, [2], [], [0], False)],
        "avg_pool2d.default": [
            (two, [3, 2], [2, 1], [1, 0], True, False),
            (two, [3, 3], [2, 2], [1, 1], True, True, 5),
            (two, [2]),
        ],
        "avg_pool3d.default": [(three, [2, 2, 3], [2, 1, 2], [1, 0, 1], True, False)],
        "max_pool2d_with_indices.default": [(two, [3, 2], [2, 1], [1, 0], [1, 2], True), (two, [2])],
        "max_pool3d_with_indices.default": [(three, [2, 2, 3], [1, 2, 2], [1, 0, 1], 1, True)],
        "col2im.default": [(columns, [3, 3], [2, 2], [1, 1], [0, 0], [1, 1])],
        "grid_sampler_2d.default": grids,
        "upsample_bilinear2d.vec": [(two, [9, 5], False, None), (two, None, True, [2.0, 1.5])],
        "upsample_nearest2d.vec": [(two, [9, 5], None), (two, None, [2.0, 1.5])],
    }


def _normalizations(g: Generator) -> Calls:
    calls: Calls = {}
    x, c = g.floats((2, 6, 3, 4)), 6
    w, b, mean, variance = g.floats((c,)), g.floats((c,)), g.floats((c,)), g.positive((c,))
    for scale, shift in ((w, b), (None, None)):
        calls.setdefault("native_group_norm.default", []).extend(
            (x, scale, shift, 2, c, 12, groups, 1e-5) for groups in (1, 3, 6)
        )
        calls.setdefault("_native_batch_norm_legit.no_stats", []).append((x, scale, shift, True, 0.1, 1e-5))
        calls.setdefault("_native_batch_norm_legit_no_training.default", []).append(
            (x, scale, shift, mean, variance, 0.1, 1e-3)
        )
    calls["_native_batch_norm_legit.default"] = [(x, w, b, mean, variance, False, 0.1, 1e-5)]
    calls["native_layer_norm.default"] = [
        (x, [4], g.floats((4,)), g.floats((4,)), 1e-5),
        (x, [3, 4], None, None, 1e-5),
        (x.bfloat16(), [4], g.floats((4,), torch.bfloat16), None, 1e-5),
    ]
    return calls


def _others(g: Generator) -> Calls:
    table, ids = g.floats((7, 3)), g.integers((9,), 0, 7)
    return {
        "addmm.default": [
            (g.floats((4,)), g.floats((3, 5)), g.floats((5, 4))),
            (g.floats((3, 4)), g.floats((3, 1)), g.floats((1, 4)), {"alpha": 0.5, "beta": 2}),
        ],
        "bmm.default": [(g.floats((2, 3, 5)), g.floats((2, 5, 1)))],
        "mm.default": [(g.floats((3, 5)), g.floats((5, 4))), (g.floats((1, 1)), g.floats((1, 4)))],
        "embedding.default": [(table, ids), (table, ids.reshape(3, 3), 2)],
        "_embedding_bag.default": [(table, ids, torch.tensor([0, 2, 5]), False, mode) for mode in range(3)],
        "arange.start_step": [(1, 9, 3), (0.5, 2.5, 0.4), (7, -2, -3)],
        "fill.Scalar": [(g.floats((2, 3)), 1.5)],
        "full.default": [([2, 1, 3], 1.5), ([], 2)],
        "full_like.default": [(g.floats((2, 3)), 4)],
        "scalar_tensor.default": [(2.5,)],
        "_fft_r2c.default": [(g.floats((2, n)), [1], how, True) for n, how in ((8, 0), (9, 1), (12, 2), (31, 0))]
        + [(g.floats((3, 4, 5)), [0, 2], 0, False)],
        "_fft_c2r.default": [(_complex(g, (3, n // 2 + 1)), [1], 2, n) for n in (2, 7, 12, 10)],
    }


def _complex(g: Generator, shape: tuple[int, ...]) -> torch.Tensor:
    return torch.complex(g.floats(shape), g.floats(shape))
