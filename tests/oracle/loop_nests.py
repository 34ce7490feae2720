"""The case programs of tests/cases once more, as plain loops over scalars.

Every loop nest computes the values of its program, counts the multiply-accumulates (all of a FLOP counter's meaning,
and those that do some good) and records which elements it reads. It knows nothing of the analyser.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from oracle.nest import Nest, Read, Recorded, attend, linear, over, softmax
from oracle.step_nests import decode_step, lstm_both_ways, state_space_loop
from oracle.window_nests import conv1d_overlapping, conv1d_unbatched, conv_transpose_cropped, convolve


def attend_heads_first(nest: Nest, causal: bool = False) -> None:
    q, k, v = nest.inputs
    sizes = (*q.shape[:3], k.shape[2], q.shape[3], v.shape[3])
    nest.outputs.append(
        attend(
            nest,
            lambda *index: q[index],
            lambda *index: k[index],
            lambda *index: v[index],
            sizes,
            causal,
        )
    )


def causal_attention(nest: Nest) -> None:
    attend_heads_first(nest, causal=True)


def attention_sequence_first(nest: Nest) -> None:
    q, k, v = nest.inputs
    batch, queries, heads, width = q.shape
    y = attend(
        nest,
        lambda b, h, i, d: q[b, i, h, d],
        lambda b, h, i, d: k[b, i, h, d],
        lambda b, h, i, d: v[b, i, h, d],
        (batch, heads, queries, k.shape[1], width, v.shape[3]),
    )
    nest.outputs.append(y.transpose(0, 2, 1, 3))


def matmul_ranks(nest: Nest) -> None:
    a, b, m, v, p, q = nest.inputs
    nest.outputs.append(np.array(sum(nest.multiply(a[k], b[k]) for k in range(a.shape[0]))))
    rows, inner = m.shape
    nest.outputs.append(np.array([sum(nest.multiply(m[i, k], v[k]) for k in range(inner)) for i in range(rows)]))
    y = np.zeros((p.shape[0], q.shape[0], p.shape[2], q.shape[2]))
    for s, t, i, j in over(*y.shape):
        y[s, t, i, j] = sum(nest.multiply(p[s, 0, i, k], q[t, k, j]) for k in range(q.shape[1]))
    nest.outputs.append(y)


def attention_module_by_keyword(nest: Nest) -> None:
    (x,) = nest.inputs
    heads = 2
    batch, places, width = x.shape
    params = nest.params
    qkv = linear(
        nest,
        lambda *index: x[index],
        (batch, places),
        params["attention.in_proj_weight"],
        params["attention.in_proj_bias"],
    )
    head_width = width // heads

    def part(number: int) -> Read:
        return lambda b, h, i, d: float(qkv[b, i, number * width + h * head_width + d])

    sizes = (batch, heads, places, places, head_width, head_width)
    y = attend(nest, part(0), part(1), part(2), sizes)
    joined = y.transpose(0, 2, 1, 3).reshape(batch, places, width)
    nest.outputs.append(
        linear(
            nest,
            lambda *index: float(joined[index]),
            (batch, places),
            params["attention.out_proj.weight"],
            params["attention.out_proj.bias"],
        )
    )


def shared_module(nest: Nest) -> None:
    (x,) = nest.inputs
    weight, bias = nest.params["layer.weight"], nest.params["layer.bias"]
    y = linear(nest, lambda *index: x[index], x.shape[:1], weight, bias)
    for activation in (True, True, False):
        previous = np.maximum(y, 0) if activation else y
        y = linear(nest, lambda *index, p=previous: float(p[index]), x.shape[:1], weight, bias)
    nest.outputs.append(y)


def einsum_two_kinds(nest: Nest) -> None:
    a, b, c, d = nest.inputs
    first = np.zeros(a.shape[:3])
    for index in over(*first.shape):
        first[index] = sum(nest.multiply(a[(*index, k)], b[(*index, k)]) for k in range(a.shape[3]))
    second = np.zeros((c.shape[0], c.shape[1], d.shape[1]))
    for n, i, j in over(*second.shape):
        second[n, i, j] = sum(nest.multiply(c[n, i, k], d[n, j, k]) for k in range(c.shape[2]))
    nest.outputs += [first, second]


def inference_mode(nest: Nest) -> None:
    params = nest.params
    y = np.maximum(convolve(nest, nest.inputs[0], params["weight"], params["bias"]), 0)
    flat = y.reshape(y.shape[0], -1)
    nest.outputs.append(
        linear(
            nest,
            lambda *index: float(flat[index]),
            y.shape[:1],
            params["head.weight"],
            params["head.bias"],
        )
    )


def dead_branch(nest: Nest) -> None:
    nest.outputs.append(convolve(nest, nest.inputs[0], nest.params["main.weight"], nest.params["main.bias"]))


def tiny_outputs(nest: Nest) -> None:
    (x,) = nest.inputs
    rows, width = x.shape
    nest.outputs.append(np.array([softmax([x[i, j] for j in range(width)]) for i in range(rows)]))


def tied_embedding(nest: Nest) -> None:
    (ids,) = nest.inputs
    table, mix = nest.params["table"], nest.params["mix"]
    batch, places = ids.shape
    vocabulary, width = table.shape
    hidden = np.zeros((batch, places, width))
    y = np.zeros((batch, places, vocabulary))
    for b, t in over(batch, places):
        row = int(ids[b, t])
        for j in range(width):
            hidden[b, t, j] = sum(nest.multiply(table[row, i], mix[i, j]) for i in range(width))
        for v in range(vocabulary):
            y[b, t, v] = sum(nest.multiply(float(hidden[b, t, i]), table[v, i]) for i in range(width))
    nest.outputs.append(y)


def embedding_few_rows(nest: Nest) -> None:
    (ids,) = nest.inputs
    table = nest.params["table"]
    y = np.zeros((*ids.shape, table.shape[1]))
    for b, t in over(*ids.shape):
        row = int(ids[b, t])
        for i in range(table.shape[1]):
            y[b, t, i] = max(table[row, i], 0)
    nest.outputs.append(y)


def operator_of_the_user(nest: Nest) -> None:
    a, b = nest.inputs
    y = np.zeros((a.shape[0], b.shape[0]))
    for i, j in over(*y.shape):
        y[i, j] = math.tanh(sum(nest.multiply(a[i, k], b[j, k]) for k in range(a.shape[1]))) * 0.5
    nest.outputs.append(y)


def branch_on_values(nest: Nest) -> None:
    (x,) = nest.inputs
    assert not any(x[index] > 2 for index in over(*x.shape))
    weight, bias = nest.params["narrow.weight"], nest.params["narrow.bias"]
    nest.outputs.append(linear(nest, lambda *index: x[index], x.shape[:1], weight, bias))


NESTS: Mapping[str, Callable[[Nest], None]] = {
    "attention_module_by_keyword": attention_module_by_keyword,
    "attention_sequence_first": attention_sequence_first,
    "attention_two_widths": attend_heads_first,
    "causal_attention": causal_attention,
    "branch_on_values": branch_on_values,
    "conv1d_overlapping": conv1d_overlapping,
    "conv1d_unbatched": conv1d_unbatched,
    "conv_transpose_cropped": conv_transpose_cropped,
    "cross_attention": attend_heads_first,
    "dead_branch": dead_branch,
    "decode_step": decode_step,
    "einsum_two_kinds": einsum_two_kinds,
    "embedding_few_rows": embedding_few_rows,
    "inference_mode": inference_mode,
    "lstm_both_ways": lstm_both_ways,
    "matmul_ranks": matmul_ranks,
    "operator_of_the_user": operator_of_the_user,
    "shared_module": shared_module,
    "state_space_loop": state_space_loop,
    "tied_embedding": tied_embedding,
    "tiny_outputs": tiny_outputs,
}


def run(
    name: str,
    inputs: list[npt.NDArray[np.generic]],
    params: Mapping[str, npt.NDArray[np.generic]],
) -> Nest:
    """Runs the loops of a case on these values."""
    nest = Nest([Recorded(x) for x in inputs], {key: Recorded(value) for key, value in params.items()})
    NESTS[name](nest)
    return nest
